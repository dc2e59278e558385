// Opens a graph from a file: the server reads it and gives it an id, which is kept in the address. A large file is read
// by a background job.
import { api, format, shell, type GraphDrawing, type Problem, type Result, type TextFault } from '../../../public';
import { detailText } from './detail';
import { CANCELLED, drawByJob } from './job';
import { tt } from '../texts';
import { graphView as v } from '../view.svelte';

export const MOST_FILE = 256 << 20;

const REFUSALS = ['empty', 'unknown', 'syntax', 'json', 'keras_archive', 'torchscript', 'torch'] as const;
/** Why the server refuses a file, in the reader's language: it sends a word for each reason. */
function whyRefused({ code, message, fault }: Problem, name: string): string {
  const reason = REFUSALS.find((one) => one === code);
  return reason
    ? tt(`refused.${reason}`, { name, problem: detailText(fault as TextFault | undefined, message) })
    : message;
}

/** The other formats have the same name in every language. */
const formatName = (format: GraphDrawing['format']): string =>
  format === 'GraphDef as text' ? tt('formatText') : format === 'Keras model' ? tt('formatKeras') : format;

class GraphFiles {
  /** name of the file that is being read; "" if none */
  name = $state('');
  /** progress of a large file, 0 to 1; null if not known */
  share = $state<number | null>(null);
  /** counts the opened files: requests that failed because a file was missing are sent again when it changes */
  opened = $state(0);
  private over = new AbortController();

  /** Opens a file, and shows a message if that fails. If another file is being read, that is cancelled. */
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
      shell.say(tt('fileOpened', { name: file.name, format: formatName(reply.value.format) }));
      // If it is the file in the address, which the server had dropped, its open boxes and its selection are kept.
      if (v.file !== reply.value.file) v.forget();
      v.file = reply.value.file;
      this.opened += 1;
      v.fileName = file.name;
    } else if (reply.error.code !== CANCELLED) shell.say(whyRefused(reply.error, file.name));
  }
  cancel(): void {
    this.over.abort();
    this.name = '';
  }

  private async read(file: File, over: AbortSignal): Promise<Result<{ file: string; format: GraphDrawing['format'] }>> {
    const reply = await api.graphFile(file, over);
    if (!reply.ok || !reply.value.isLarge) return reply;
    const ask = { source: { graph: { file: reply.value.file } }, open: [], auto: true, extract: !v.keepAll };
    const drawn = await drawByJob(ask, over, (share) => (this.share = share));
    return drawn.ok ? { ok: true, value: { file: reply.value.file, format: drawn.value.format } } : drawn;
  }
}

export const graphFiles = new GraphFiles();
