// What x is, as the address names it: steps, times, or another metric of the same run.

export type X = 'step' | 'step_relative' | 'relative' | 'wall' | `tag:${string}`;
const PLAIN: readonly string[] = ['step', 'step_relative', 'relative', 'wall'];

export const isX = (text: string): text is X => PLAIN.includes(text) || /^tag:./s.test(text);
export const alongMetric = (tag: string): X => `tag:${tag}`;
/** The metric; null where x is steps or times. */
export const metricOf = (x: X): string | null => (x.startsWith('tag:') ? x.slice(4) : null);

/** The form that requests to the server use. */
export function xAsk(x: X): { tag: string } | Exclude<X, `tag:${string}`> {
  const tag = metricOf(x);
  return tag === null ? (x as Exclude<X, `tag:${string}`>) : { tag };
}

/** How a place on this axis is formatted and parsed. */
export const xWhat = (x: X): 'number' | 'relative' | 'wall' => (x === 'relative' || x === 'wall' ? x : 'number');
