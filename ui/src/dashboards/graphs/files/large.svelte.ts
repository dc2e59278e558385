// Drawings that take too long for one request. The server answers that the graph is large; a background job then makes
// the drawing, which is kept here.
import type { GraphDrawAsk, GraphDrawing, Trouble } from '../../../public';
import { CANCELLED, drawByJob } from './job';

export class LargeDrawing {
  /** the last drawing and its source */
  private held = $state.raw<{ source: string; drawing: GraphDrawing } | null>(null);
  isRunning = $state(false);
  /** progress, 0 to 1 */
  share = $state(0);
  trouble = $state.raw<Trouble | null>(null);

  of(source: string): GraphDrawing | undefined {
    return this.held?.source === source ? this.held.drawing : undefined;
  }
  /**
   * Keeps a drawing that was made without a job, so that it stays visible while a larger one of the same graph is made.
   */
  hold(source: string, drawing: GraphDrawing): void {
    this.held = { source, drawing };
    this.trouble = null;
  }

  /** Starts a job. The returned function cancels it. */
  make(source: string, ask: GraphDrawAsk, done: () => void): () => void {
    const over = new AbortController();
    this.isRunning = true;
    this.share = 0;
    this.trouble = null;
    void drawByJob(ask, over.signal, (share) => (this.share = share)).then((reply) => {
      if (over.signal.aborted) return;
      this.isRunning = false;
      if (reply.ok) {
        this.hold(source, reply.value);
        done();
      } else if (reply.error.code !== CANCELLED) this.trouble = { ...reply.error, retryAt: null };
    });
    return () => {
      over.abort();
      this.isRunning = false;
    };
  }
}
