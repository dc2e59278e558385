// What the server says about the place from which on a text is no graph, in the language of the page: "line 3, column 7: no
// such field: nodde". The server sends a word for each reason; the token is the file's own.
import type { TextFault } from '../../../public';
import { tt } from '../texts';

/** Without a fault, the problem is told by another program's library: it stays as it is. */
export function detailText(fault: TextFault | undefined, problem: string): string {
  if (!fault) return problem;
  const { reason, line, column, token } = fault;
  return tt('text.at', { line, column, why: tt(`text.${reason}`, { token }).trim() });
}
