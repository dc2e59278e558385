// Drawings that are too large for a reply: the server says so instead, a job makes them, and they are held here.
import type { GraphDrawAsk, GraphDrawing, Trouble } from '../../../public';
import { CANCELLED, drawByJob } from './job';

export class LargeDrawing {
  /** the last drawing, and the source that it is of */
  private held = $state.raw<{ source: string; drawing: GraphDrawing } | null>(null);
  isRunning = $state(false);
  /** how much is done, 0 to 1 */
  share = $state(0);
  trouble = $state.raw<Trouble | null>(null);

  of(source: string): GraphDrawing | undefined {
    return this.held?.source === source ? this.held.drawing : undefined;
  }
  /** A drawing that came at once stays in sight while a larger one of the same graph is made. */
  hold(source: string, drawing: GraphDrawing): void {
    this.held = { source, drawing };
    this.trouble = null;
  }

  /** What it gives back ends it. */
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
