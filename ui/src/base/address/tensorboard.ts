// Links of TensorBoard: what its query string and its old hashes say, as values of our address. Loaded when the page is
// opened by such a link (tensorboard.keys.ts).
import { cardKey } from './card';
import { decodePart, formatHash, joinList, parseHash, type Hash } from './hash';
import { TENSORBOARD_HASH, TENSORBOARD_QUERY, type Link } from './tensorboard.keys';

/** Base64 of Latin-1, which old links have, or of UTF-8. */
function textOfBase64(text: string): string {
  const latin = atob(text);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(latin, (c) => c.charCodeAt(0)));
  } catch {
    return latin;
  }
}

/** The pinned cards of a link. A run's id is "experiment/run" there. */
function pinnedCards(text: string | null): string[] {
  try {
    const cards: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(cards)) return [];
    return cards.flatMap((c: { plugin?: unknown; tag?: unknown; runId?: unknown; sample?: unknown } | null) => {
      if (!c || typeof c.plugin !== 'string' || typeof c.tag !== 'string') return [];
      const run = typeof c.runId === 'string' ? { run: c.runId.slice(c.runId.indexOf('/') + 1) } : {};
      const sample = typeof c.sample === 'number' ? { sample: c.sample } : {};
      return [cardKey({ plugin: c.plugin, tags: [c.tag], ...run, ...sample })];
    });
  } catch {
    return []; // a link that was cut off: the rest of it still counts
  }
}

/** What TensorBoard keeps in the query string and in its old hashes, as values of ours. */
export function fromTensorBoard(query: URLSearchParams, hash: Hash): Map<string, string> {
  const out = new Map<string, string>();
  const take = (from: string | null | undefined, key: string) => {
    if (from !== null && from !== undefined && from !== '') out.set(key, from);
  };
  take(hash.values.get('tagFilter'), 'tags');
  take(hash.values.get('_smoothingWeight'), 'smooth');
  take(hash.values.get('regexInput'), 'runs');
  const selection = hash.values.get('runSelectionState');
  if (selection) {
    try {
      const state: unknown = JSON.parse(textOfBase64(selection));
      if (state && typeof state === 'object')
        take(
          joinList(
            Object.entries(state)
              .filter(([, on]) => on === false)
              .map(([name]) => name),
          ),
          'hide',
        );
    } catch {
      // a link that was cut off: the rest of it still counts
    }
  }
  take(query.get('tagFilter'), 'tags');
  take(query.get('smoothing'), 'smooth');
  take(query.get('runFilter'), 'runs');
  const byRegex = /^regex(?:_by_exp)?:(.+)$/s.exec(query.get('runColorGroup') ?? '');
  if (byRegex) {
    out.set('group', `regex:${byRegex[1]}`);
    out.set('colour', 'group');
  }
  take(joinList(pinnedCards(query.get('pinnedCards'))), 'pins');
  return out;
}

/** The query without what has become part of the view; all else stays letter by letter. */
export function withoutTensorBoard(search: string): string {
  const rest = search
    .replace(/^\?/, '')
    .split('&')
    .filter((pair) => pair !== '' && !TENSORBOARD_QUERY.has(decodePart(pair.split('=')[0])));
  return rest.length ? `?${rest.join('&')}` : '';
}

/** The same view as a link of ours: TensorBoard's keys are turned into ours and taken off. Keys of ours go before them. */
export function translated({ hash: text, search }: Link): Link {
  const hash = parseHash(text);
  for (const [key, value] of fromTensorBoard(new URLSearchParams(search), hash))
    if (!hash.values.has(key)) hash.values.set(key, value);
  for (const key of TENSORBOARD_HASH) hash.values.delete(key);
  return { hash: formatHash(hash), search: withoutTensorBoard(search) };
}
