// A graph from a file: the server reads it and gives it a name, which the address keeps.
import { api, format, shell } from '../../public';
import { tt } from './texts';
import { graphView as v } from './view.svelte';

export const MOST_FILE = 256 << 20;

/** Says what went wrong, if something did. */
export async function openGraphFile(file: File): Promise<void> {
  if (file.size > MOST_FILE) {
    shell.say(tt('fileTooLarge', { size: format.bytes(file.size), most: format.bytes(MOST_FILE) }));
    return;
  }
  const reply = await api.graphFile(file);
  if (!reply.ok) {
    shell.say(reply.error.message);
    return;
  }
  shell.say(tt('fileOpened', { name: file.name, format: reply.value.format }));
  v.forget();
  v.file = reply.value.file;
  v.fileName = file.name;
}
