// Saved views: addresses under names, kept by the server with people's state.
import { hub } from '../../data/hub.svelte';
import { t } from '../texts/i18n.svelte';
import { shell } from '../shell.svelte';
import { view } from './view.svelte';

export const VIEW = 'view/';

export const savedViews = (): string[] =>
  Object.keys(hub.people)
    .filter((key) => key.startsWith(VIEW))
    .map((key) => key.slice(VIEW.length));

/** Opens a saved view; this can be undone. */
export function openView(name: string): void {
  const value = hub.people[VIEW + name] as { hash?: unknown } | undefined;
  if (typeof value?.hash !== 'string') return;
  view.decode(value.hash);
  shell.say(t('save.opened', { name }), { title: t('undo'), run: () => void view.undo() });
}
