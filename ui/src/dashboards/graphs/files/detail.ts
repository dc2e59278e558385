// What the server says about the place where a text ends to be a graph, in the language of the page: "line 3, column 7: no
// such field: nodde". The token after a reason is the file's own.
import { tt } from '../texts';
import { REASONS } from './reasons';

/** A text that is none of these comes from another program's library and stays as it is. */
export function detailText(problem: string): string {
  const found = /^line (\d+), column (\d+): ([^]*)$/.exec(problem.replace(/^not a graph: /, ''));
  if (!found) return problem.replace(/^not a graph: /, '');
  const [, line, column, rest] = found;
  const reason = Object.keys(REASONS).find((start) => rest === start || rest.startsWith(`${start} `));
  const why = reason ? tt(REASONS[reason], { token: rest.slice(reason.length).trim() }).trim() : rest;
  return tt('text.at', { line, column, why });
}
