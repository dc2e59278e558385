// Which card: plugin, tags, run and sample. One text stands for it in addresses and as a key of maps. A card of scalars
// without a run is written as its tags alone, with a unit separator between several: the only cards that old links
// know. Every other one (of another plugin, or of a tag without a name) is "!plugin!run!sample!tag!tag".
import { joinList, splitList } from './hash';

export interface CardId {
  plugin: string;
  tags: readonly string[];
  /** by name; absent: of all runs that are shown */
  run?: string;
  sample?: number;
}

const PLAIN = 'scalars';
const MARK = '!';
const SEPARATOR = '\u001f';

const isPlain = ({ plugin, tags, run, sample }: CardId): boolean =>
  plugin === PLAIN &&
  run === undefined &&
  sample === undefined &&
  tags.every((tag) => !tag.includes(SEPARATOR)) &&
  tags[0] !== '' &&
  !tags[0].startsWith(MARK);

export function cardKey(id: CardId): string {
  if (isPlain(id)) return id.tags.join(SEPARATOR);
  const parts = [id.plugin, id.run ?? '', id.sample === undefined ? '' : String(id.sample), ...id.tags];
  return MARK + joinList(parts, MARK);
}

/** The plugin of a card, without reading the rest of its key: pages of 10 000 cards ask it of each. */
export const pluginOf = (key: string): string => (key.startsWith(MARK) ? cardOf(key).plugin : PLAIN);

export function cardOf(key: string): CardId {
  if (!key.startsWith(MARK)) return { plugin: PLAIN, tags: key.includes(SEPARATOR) ? key.split(SEPARATOR) : [key] };
  const [plugin, run = '', sample = '', ...tags] = splitList(key.slice(MARK.length), MARK);
  return {
    plugin,
    tags: tags.length ? tags : [''],
    ...(run === '' ? {} : { run }),
    ...(/^\d{1,9}$/.test(sample) ? { sample: Number(sample) } : {}),
  };
}
