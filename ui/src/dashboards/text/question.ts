// The question for one text of a series: the one at an index, 0 being the newest, or the one nearest to a step.
import { ok, type Question, type TextPoint, type TextsReply } from '../../public';

export interface TextAsk {
  run: number;
  tag: string;
  where: { from: number } | { at: number };
  markdown: boolean;
  /** only so many bytes of its HTML; 0: all */
  max: number;
}

export interface TextAnswer {
  ask: TextAsk;
  total: number;
  index: number;
  point: TextPoint | null; // null: there is none
}

const LIVE_EVERY_MS = 300;

export function textQuestion(ask: TextAsk): Question<TextAnswer> {
  const { run, tag, where, markdown, max } = ask;
  const query = new URLSearchParams({ run: String(run), tag, count: '1', markdown: markdown ? '1' : '0' });
  for (const [key, value] of Object.entries(where)) query.set(key, String(value));
  if (max > 0) query.set('max', String(max));
  const path = `text?${query.toString()}`;
  return {
    key: path,
    depends: { plugin: 'text', tags: [tag], runs: new Set([run]) },
    every: LIVE_EVERY_MS,
    asks: () => [{ path, as: 'json' }],
    take([reply]) {
      const { total, from, points } = reply as TextsReply;
      return ok({ ask, total, index: from, point: points.at(0) ?? null });
    },
    sizeOf: ({ point }) => 100 + 2 * (point?.html?.length ?? 0),
  };
}
