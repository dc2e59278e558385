// Copies a text and says so.
import { copyText as copy } from '../base/clipboard';
import { t } from './i18n.svelte';
import { shell } from './shell.svelte';

export async function copyText(text: string): Promise<void> {
  if (await copy(text)) shell.say(t('copied'));
}
