// Copies a text, or a link to what is on the page, and says so.
import { copyText as copy } from '../base/clipboard';
import { t } from './texts/i18n.svelte';
import { shell } from './shell.svelte';
import { view } from './view/view.svelte';

export async function copyText(text: string): Promise<void> {
  if (await copy(text)) shell.say(t('copied'));
}

export async function copyLink(): Promise<void> {
  if (await copy(location.href.replace(/#.*$/s, '') + view.encode())) shell.say(t('export.copied'));
}
