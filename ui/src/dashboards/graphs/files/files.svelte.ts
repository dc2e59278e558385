// A graph from a file: the server reads it and gives it a name, which the address keeps. A large one is read by a job.
import { api, format, shell, type Result } from '../../../public';
import { CANCELLED, drawByJob } from './job';
import { tt } from '../texts';
import { graphView as v } from '../view.svelte';

export const MOST_FILE = 256 << 20;

class GraphFiles {
  /** the file that is being read; "": none */
  name = $state('');
  /** how much of a large one, 0 to 1; null: it was not said */
  share = $state<number | null>(null);
  /** how many were opened: what failed for want of a file is asked again */
  opened = $state(0);
  private over = new AbortController();

  /** Says what went wrong, if something did. One that is being read makes way. */
  async open(file: File): Promise<void> {
    if (file.size > MOST_FILE) {
      shell.say(tt('fileTooLarge', { size: format.bytes(file.size), most: format.bytes(MOST_FILE) }));
      return;
    }
    this.cancel();
    const over = (this.over = new AbortController());
    this.name = file.name;
    this.share = null;
    const reply = await this.read(file, over.signal);
    if (this.over !== over || over.signal.aborted) return;
    this.name = '';
    if (reply.ok) {
      shell.say(tt('fileOpened', { name: file.name, format: reply.value.format }));
      // the file that the address names, which the server had lost: its open scopes and its selected box stay
      if (v.file !== reply.value.file) v.forget();
      v.file = reply.value.file;
      this.opened += 1;
      v.fileName = file.name;
    } else if (reply.error.code !== CANCELLED) shell.say(reply.error.message);
  }
  cancel(): void {
    this.over.abort();
    this.name = '';
  }

  private async read(file: File, over: AbortSignal): Promise<Result<{ file: string; format: string }>> {
    const reply = await api.graphFile(file, over);
    if (!reply.ok || !reply.value.isLarge) return reply;
    const ask = { source: { graph: { file: reply.value.file } }, open: [], auto: true, extract: !v.keepAll };
    const drawn = await drawByJob(ask, over, (share) => (this.share = share));
    return drawn.ok ? { ok: true, value: { file: reply.value.file, format: drawn.value.format } } : drawn;
  }
}

export const graphFiles = new GraphFiles();
