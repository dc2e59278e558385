// The fields of the address that only the text dashboard has.
import { fields, joinList, numberOr, splitList, view } from '../../public';
import { GridView } from '../../rooms/cards/grid.svelte';

const PREFIX = 'text';

export type Mode = 'text' | 'list' | 'raw' | 'diff';
/** What a card's text is compared with: the text of another run or of another step. */
export interface Other {
  run: string; // '' means the card's own run
  step: number | null; // null means the step before or, for another run, the same step
}

class TextView {
  markdown = $state(true);
  layout = $state<'inline' | 'side'>('inline');
  /** the search text, for all texts */
  find = $state('');
  regex = $state(false);
  matchCase = $state(false);
  private modes = $state.raw<ReadonlyMap<string, Mode>>(new Map());
  private others = $state.raw<ReadonlyMap<string, Other>>(new Map());

  constructor() {
    view.add(PREFIX, [
      fields.taste({
        key: 'markdown',
        write: () => (this.markdown ? '' : 'off'),
        read: (text) => (this.markdown = text !== 'off'),
      }),
      fields.taste(fields.choice('layout', this, 'layout', ['inline', 'side'])),
      fields.text('find', this, 'find'),
      fields.flag('regex', this, 'regex'),
      fields.flag('case', this, 'matchCase'),
      {
        key: 'mode',
        write: () => joinList([...this.modes].map(([card, mode]) => `${mode}|${card}`)),
        read: (text) => {
          const found = splitList(text).flatMap((item) => {
            const [, mode, card] = /^(list|raw|diff)\|(.*)$/s.exec(item) ?? [];
            return mode ? [[card, mode as Mode] as const] : [];
          });
          this.modes = new Map(found);
        },
      },
      {
        key: 'with',
        write: () =>
          joinList(
            [...this.others].map(([card, { run, step }]) =>
              joinList([card, run, step === null ? '' : String(step)], '|'),
            ),
          ),
        read: (text) => {
          const found = splitList(text).map((item) => {
            const [card = '', run = '', step = ''] = splitList(item, '|');
            return [card, { run, step: step === '' ? null : numberOr(step, 0) }] as const;
          });
          this.others = new Map(found.filter(([card]) => card !== ''));
        },
      },
    ]);
  }

  /** Does any card show a comparison? */
  readonly hasDifference = $derived.by(() => [...this.modes.values()].includes('diff'));
  modeOf(card: string): Mode {
    return this.modes.get(card) ?? 'text';
  }
  setMode(card: string, mode: Mode): void {
    const next = new Map(this.modes);
    if (mode === 'text') next.delete(card);
    else next.set(card, mode);
    this.modes = next;
  }
  otherOf(card: string): Other {
    return this.others.get(card) ?? { run: '', step: null };
  }
  setOther(card: string, other: Other): void {
    const next = new Map(this.others);
    if (other.run === '' && other.step === null) next.delete(card);
    else next.set(card, other);
    this.others = next;
  }
}

export const textView = new TextView();
export const grid = new GridView(PREFIX);
