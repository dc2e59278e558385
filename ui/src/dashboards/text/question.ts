// Requests for texts: one text of a series (by its index, where 0 is the newest, or the one nearest to a step), or
// several from there on, rendered or as they were logged; and the search in all texts.
import { ok, type Question, type TextFound, type TextPoint, type TextSearch, type TextsReply } from '../../public';

export interface TextAsk {
  run: number;
  tag: string;
  where: { from: number } | { at: number };
  form: 'markdown' | 'html' | 'raw';
  /** most bytes of the text; 0 means all */
  max: number;
  /** for tensors with more than two dimensions: the first indices */
  slice?: readonly number[];
}

export interface TextAnswer {
  ask: TextAsk;
  total: number;
  index: number;
  point: TextPoint | null; // null if there is no text
}

const LIVE_EVERY_MS = 300;
const LIST_EVERY_MS = 1000;
const SEARCH_EVERY_MS = 2000;

function pathOf({ run, tag, where, form, max, slice = [] }: TextAsk, count: number): string {
  const query = new URLSearchParams({ run: String(run), tag, count: String(count) });
  if (form === 'raw') query.set('raw', '1');
  else query.set(form === 'markdown' ? 'maths' : 'markdown', form === 'markdown' ? '1' : '0');
  for (const [key, value] of Object.entries(where)) query.set(key, String(value));
  if (max > 0) query.set('max', String(max));
  if (slice.some((i) => i > 0)) query.set('slice', slice.join(','));
  return `text?${query.toString()}`;
}
const bytesOf = ({ html = '', strings = [] }: TextPoint): number =>
  2 * (html.length + strings.reduce((n, text) => n + text.length, 0));

export function textQuestion(ask: TextAsk): Question<TextAnswer> {
  const path = pathOf(ask, 1);
  return {
    key: path,
    depends: { plugin: 'text', tags: [ask.tag], runs: new Set([ask.run]) },
    every: LIVE_EVERY_MS,
    asks: () => [{ path, as: 'json' }],
    take([reply]) {
      const { total, from, points } = reply as TextsReply;
      return ok({ ask, total, index: from, point: points.at(0) ?? null });
    },
    sizeOf: ({ point }) => 100 + (point ? bytesOf(point) : 0),
  };
}

/** Requests `count` texts, from this one towards the oldest. */
export function textsQuestion(ask: TextAsk, count: number): Question<readonly TextPoint[]> {
  const path = pathOf(ask, count);
  return {
    key: path,
    depends: { plugin: 'text', tags: [ask.tag], runs: new Set([ask.run]) },
    every: LIST_EVERY_MS,
    asks: () => [{ path, as: 'json' }],
    take: ([reply]) => ok((reply as TextsReply).points),
    sizeOf: (points) => points.reduce((sum, point) => sum + 200 + bytesOf(point), 100),
  };
}

export interface SearchAsk {
  text: string;
  regex: boolean;
  matchCase: boolean;
  /** number of texts that earlier requests have searched: each request continues where the last one ended */
  skip: number;
}
export interface SearchAnswer {
  found: TextFound[];
  total: number;
  searched: number;
  hits: number;
  next?: number;
}

export function searchQuestion({ text, regex, matchCase, skip }: SearchAsk): Question<SearchAnswer> {
  const body = { text, regex, case: matchCase, skip };
  return {
    key: `text/search ${JSON.stringify(body)}`,
    depends: { plugin: 'text' },
    every: SEARCH_EVERY_MS,
    asks: () => [{ path: 'text/search', body, as: 'json' }],
    take([reply]) {
      const { found, total, searched, hits, next } = reply as TextSearch;
      return ok({ found, total, searched, hits, next });
    },
    sizeOf: ({ found }) => 200 + 500 * found.length,
  };
}
