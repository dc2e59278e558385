// The view in the address: "#tab&key=value&key=value", the form TensorBoard's old dashboards use too, so that its
// links and ours are read by one reader. Values are percent-encoded as little as possible, to stay readable.

export interface Hash {
  tab: string;
  values: Map<string, string>;
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/%(2F|3A|2C|40|24)/g, (m) => decodeURIComponent(m));

export function parseHash(hash: string): Hash {
  const [tab, ...pairs] = hash.replace(/^#/, '').split('&');
  const values = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at > 0) values.set(decode(pair.slice(0, at)), decode(pair.slice(at + 1)));
  }
  return { tab: decode(tab), values };
}

export function formatHash(hash: Hash): string {
  let text = `#${encode(hash.tab)}`;
  for (const [key, value] of hash.values) text += `&${encode(key)}=${encode(value)}`;
  return text;
}

/** Lists of names inside one value: "," parts them, "\" keeps one that belongs to a name. */
export function joinList(items: Iterable<string>): string {
  return [...items].map((item) => item.replace(/[\\,]/g, '\\$&')).join(',');
}

export function splitList(text: string): string[] {
  if (text === '') return [];
  const items: string[] = [];
  let item = '';
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\' && i + 1 < text.length) item += text[++i];
    else if (text[i] === ',') {
      items.push(item);
      item = '';
    } else item += text[i];
  }
  items.push(item);
  return items;
}

/** Base64 of Latin-1, which old links have, or of UTF-8. */
function textOfBase64(text: string): string {
  const latin = atob(text);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(latin, (c) => c.charCodeAt(0)));
  } catch {
    return latin;
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
  const pinned = query.get('pinnedCards');
  if (pinned) {
    try {
      const cards: unknown = JSON.parse(pinned);
      if (Array.isArray(cards)) {
        const tags = cards
          .filter(
            (c): c is { plugin: string; tag: string } => !!c && c.plugin === 'scalars' && typeof c.tag === 'string',
          )
          .map((c) => c.tag);
        take(joinList(tags), 'pins');
      }
    } catch {
      // as above
    }
  }
  return out;
}

const TENSORBOARD_QUERY = new Set(['tagFilter', 'smoothing', 'runFilter', 'runColorGroup', 'pinnedCards']);

/** The query without what has become part of the view; all else stays letter by letter. */
export function withoutTensorBoard(search: string): string {
  const rest = search
    .replace(/^\?/, '')
    .split('&')
    .filter((pair) => pair !== '' && !TENSORBOARD_QUERY.has(decode(pair.split('=')[0])));
  return rest.length ? `?${rest.join('&')}` : '';
}

/** TensorBoard's names of tabs that are part of another one here. */
export const TAB_OF: Record<string, string> = { '': 'timeseries', scalars: 'timeseries', distributions: 'histograms' };

/** What the query wants of the theme: TensorBoard's darkMode. */
export function themeOf(search: string): '' | 'light' | 'dark' {
  const wanted = new URLSearchParams(search).get('darkMode');
  return wanted === 'true' ? 'dark' : wanted === 'false' ? 'light' : '';
}
