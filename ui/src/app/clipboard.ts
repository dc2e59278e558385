// Copies a text; also where the browser has no clipboard for pages that came over plain HTTP.
import { t } from './i18n.svelte';
import { shell } from './shell.svelte';

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
  }
  shell.say(t('copied'));
}
