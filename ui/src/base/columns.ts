// The columns of a table as people choose them. Pure functions.

export interface ColumnChoice {
  id: string;
  text: string;
  note?: string; // what kind it is
}

/** With `id` at index `to` of the others. */
export function moved(list: readonly string[], id: string, to: number): string[] {
  const rest = list.filter((other) => other !== id);
  rest.splice(Math.max(0, Math.min(to, rest.length)), 0, id);
  return rest;
}
