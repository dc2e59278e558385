// What can be done with a run, with several, with a group and with a column: the menus behind right click and "⋯".
import type { Run } from '../../data/types';
import { hub } from '../../data/hub.svelte';
import { count } from '../../base/numbers/format';
import type { MenuItem } from '../../widgets/MenuList.svelte';
import { copyText } from '../clipboard';
import { t } from '../texts/i18n.svelte';
import { shell } from '../shell.svelte';
import { view } from '../view/view.svelte';
import { panel } from './panel.svelte';
import { bestIsHigh } from './table/columns.svelte';
import type { GroupRow } from './table/rows';
import { runs } from './runs.svelte';
import type { RunNote } from './notes/notes.svelte';

const LINE: MenuItem = { label: '', separator: true };

/** Changes notes as one step of undo. With a text, a message tells it and offers to undo it. */
export async function note(
  those: readonly Run[],
  how: (had: RunNote) => RunNote,
  text: (those: readonly Run[]) => string = () => '',
): Promise<void> {
  const change = runs.notes.change(those, how);
  const told = async (kept: Promise<boolean>) => {
    if (!(await kept)) shell.say(t('save.notKept'));
  };
  const step = { undo: () => void told(change.undo()), redo: () => void told(change.redo()) };
  view.did(step);
  const what = text(those);
  if (what) shell.say(what, { title: t('undo'), run: () => void view.undo(step) });
  await told(change.kept);
}

export const isArchived = (run: Run): boolean => runs.notes.get(run.name).archived === true;

export function archive(those: readonly Run[], archived: boolean): void {
  const key = `notes.${archived ? 'archived' : 'restored'}` as const;
  void note(
    those,
    () => ({ archived }),
    () => (those.length === 1 ? t(key, { name: runs.nameOf(those[0]) }) : t(`${key}Many`, { n: count(those.length) })),
  );
  panel.clear();
}

export const openDetails = (run: Run | null): void => {
  view.details = run && view.details !== run.name ? run.name : '';
};

/** Where the files of a run are, as far as the server says. */
const folderOf = (name: string): string => {
  const base = (hub.status?.logdir ?? '').replace(/\/+$/, '');
  return name === '.' || name === '' ? base : `${base}/${name}`;
};

export function runMenu(run: Run): MenuItem[] {
  const those = panel.aimedAt(run);
  if (those.length > 1) return manyMenu(those);
  const isBase = view.baseline === run.name;
  const edit = (field: 'name' | 'note' | 'colour') => (panel.dialog = { kind: 'edit', run, field });
  return [
    { label: t('run.details'), hint: 'D', run: () => (view.details = run.name) },
    { label: t('run.solo'), run: () => runs.solo([run]) },
    { label: runs.isShown(run) ? t('runs.hide') : t('runs.show'), run: () => runs.toggle(run) },
    { label: t('run.baseline'), checked: isBase, run: () => (view.baseline = isBase ? '' : run.name) },
    LINE,
    { label: t('run.rename'), hint: 'F2', run: () => edit('name') },
    { label: t('run.noteEdit'), run: () => edit('note') },
    { label: t('run.tagsEdit'), run: () => (panel.dialog = { kind: 'tags', runs: [run] }) },
    { label: t('run.colourEdit'), run: () => edit('colour') },
    { label: isArchived(run) ? t('run.unarchive') : t('run.archive'), run: () => archive([run], !isArchived(run)) },
    LINE,
    { label: t('run.copy'), run: () => void copyText(run.name) },
    { label: t('run.copyPath'), run: () => void copyText(folderOf(run.name)) },
  ];
}

function manyMenu(those: Run[], folder = ''): MenuItem[] {
  const anyShown = those.some((run) => runs.isShown(run));
  const allArchived = those.every(isArchived);
  return [
    { label: t('picked.compare'), run: () => (panel.dialog = { kind: 'compare', runs: those }) },
    { label: t('run.soloMany', { n: those.length }), run: () => runs.solo(those, folder) },
    { label: anyShown ? t('runs.hide') : t('runs.show'), run: () => runs.toggleGroup(those, folder) },
    LINE,
    { label: t('run.tagsEdit'), run: () => (panel.dialog = { kind: 'tags', runs: those }) },
    { label: allArchived ? t('run.unarchive') : t('run.archive'), run: () => archive(those, !allArchived) },
    { label: t('run.copyMany'), run: () => void copyText(those.map((run) => run.name).join('\n')) },
  ];
}

export function groupMenu(row: GroupRow): MenuItem[] {
  return [
    ...manyMenu(row.runs, row.folder),
    ...(view.group === 'tree'
      ? [{ label: t('run.copyPath'), run: () => void copyText(folderOf(row.key.replace(/\/$/, ''))) }]
      : []),
    ...(row.colourKey !== null && runs.colourBy === view.group
      ? [{ label: t('group.colour'), run: () => (panel.dialog = { kind: 'groupColour', key: row.colourKey ?? '' }) }]
      : []),
    LINE,
    { label: t('group.foldAll'), run: () => runs.foldAll(true) },
    { label: t('group.unfoldAll'), run: () => runs.foldAll(false) },
  ];
}

export function columnMenu(column: string, filter: () => void, add: () => void): MenuItem[] {
  const at = runs.columns.indexOf(column);
  const high = bestIsHigh(column);
  const sort = (descending: boolean) => {
    view.sort = column;
    view.descending = descending;
  };
  return [
    { label: t('col.ascending'), checked: view.sort === column && !view.descending, run: () => sort(false) },
    { label: t('col.descending'), checked: view.sort === column && view.descending, run: () => sort(true) },
    {
      label: t('col.top', { n: 10 }),
      run: () => {
        sort(high);
        view.top = 10;
      },
    },
    { label: t('col.filter'), run: filter },
    ...(column.startsWith('h:')
      ? [
          {
            label: t('col.group'),
            checked: view.group === `hparam:${column.slice(2)}`,
            run: () => (view.group = `hparam:${column.slice(2)}`),
          },
          {
            label: t('col.colour'),
            checked: view.colour === `hparam:${column.slice(2)}`,
            run: () => (view.colour = `hparam:${column.slice(2)}`),
          },
        ]
      : []),
    LINE,
    { label: t('col.left'), hint: 'Alt ←', disabled: at <= 0, run: () => runs.table.shift(column, -1) },
    {
      label: t('col.right'),
      hint: 'Alt →',
      disabled: at === runs.columns.length - 1,
      run: () => runs.table.shift(column, 1),
    },
    { label: t('col.remove'), hint: 'Del', run: () => runs.table.toggle(column) },
    { label: t('col.add'), run: add },
  ];
}
