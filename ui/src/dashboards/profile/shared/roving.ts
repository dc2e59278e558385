// A group of many controls that is one stop of the Tab key: arrow keys, Home and End go from one to the next.

/** The place that a key leads to from `at`; undefined: the key means nothing here. */
export function placeOf({ key }: Pick<KeyboardEvent, 'key'>, at: number, n: number): number | undefined {
  const to = {
    ArrowRight: at + 1,
    ArrowDown: at + 1,
    ArrowLeft: at - 1,
    ArrowUp: at - 1,
    Home: 0,
    End: n - 1,
  }[key];
  return to === undefined || n === 0 ? undefined : Math.min(Math.max(to, 0), n - 1);
}
