// Ticks of wall time: round moments in the viewer's time zone, and their texts in the page's language. A tick says what
// tells it from its neighbours: the time of day, the date where a day begins, the year where a year begins.
import type { Range, Tick } from './scale';

const SECOND = 1;
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86400;
const MONTH = 30.4 * DAY;
const YEAR = 365.25 * DAY;

type Unit = 'second' | 'hour' | 'day' | 'month' | 'year';
interface Stride {
  unit: Unit;
  by: number; // so many of the unit; seconds for "second"
  seconds: number; // about as long
}

const strides = (unit: Unit, seconds: number, all: number[]): Stride[] =>
  all.map((by) => ({ unit, by, seconds: by * seconds }));
const STRIDES: Stride[] = [
  ...strides('second', SECOND, [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]),
  ...strides(
    'second',
    SECOND,
    [1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ),
  ...strides('hour', HOUR, [1, 2, 3, 6, 12]),
  ...strides('day', DAY, [1, 2, 7]),
  ...strides('month', MONTH, [1, 3, 6]),
  ...strides('year', YEAR, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]),
];
const LATEST = 8.64e12; // seconds from 1970: no Date is further away
const MORE = 1.4; // ticks than asked for, rather than half of them
const MOST = 100; // ticks, whatever the range is

/** The first round moment at or before `from`, and the next ones; days are not all of 24 hours, so a Date counts them. */
function* momentsFrom(from: number, { unit, by }: Stride): Generator<number> {
  if (unit === 'second') {
    // whole minutes are the same in every time zone; a zone's offset is whole minutes, too
    for (let i = Math.floor(from / by); ; i++) yield i * by;
  }
  const start = new Date(from * 1000);
  const [y, m, d, h] = [start.getFullYear(), start.getMonth(), start.getDate(), start.getHours()];
  for (let i = 0; ; i++) {
    const at =
      unit === 'hour'
        ? new Date(y, m, d, Math.floor(h / by) * by + i * by)
        : unit === 'day'
          ? new Date(y, m, Math.floor((d - 1) / by) * by + 1 + i * by)
          : unit === 'month'
            ? new Date(y, Math.floor(m / by) * by + i * by, 1)
            : new Date(Math.floor(y / by) * by + i * by, 0, 1);
    yield at.getTime() / 1000;
  }
}

const FORMS = {
  year: { year: 'numeric' },
  month: { month: 'short' },
  day: { month: 'short', day: 'numeric' },
  minute: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  second: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  milli: { minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const made = new Map<string, Intl.DateTimeFormat>();
function formatOf(form: keyof typeof FORMS, language: string): Intl.DateTimeFormat {
  const key = `${form} ${language}`;
  let format = made.get(key);
  if (!format) made.set(key, (format = new Intl.DateTimeFormat(language, FORMS[form])));
  return format;
}

function textOf(seconds: number, stride: Stride, language: string): string {
  const at = new Date(seconds * 1000);
  const startsDay = at.getHours() === 0 && at.getMinutes() === 0 && at.getSeconds() === 0 && at.getMilliseconds() === 0;
  const startsYear = startsDay && at.getMonth() === 0 && at.getDate() === 1;
  const form = startsYear
    ? 'year'
    : stride.unit === 'year' || stride.unit === 'month'
      ? 'month'
      : startsDay
        ? 'day'
        : stride.seconds < SECOND
          ? 'milli'
          : stride.seconds < MINUTE
            ? 'second'
            : 'minute';
  return formatOf(form, language).format(at);
}

/** About n ticks between two moments, in seconds since 1970. `language` is a BCP 47 tag. */
export function timeTicks([from, to]: Range, n: number, language: string): Tick[] {
  if (!(from > -LATEST && to > from && to < LATEST)) return [];
  const stride = STRIDES.find((s) => (to - from) / s.seconds <= n * MORE) ?? STRIDES[STRIDES.length - 1];
  const ticks: Tick[] = [];
  for (const v of momentsFrom(from, stride)) {
    if (!(v <= to) || ticks.length >= MOST) break;
    if (v >= from) ticks.push({ v, text: textOf(v, stride, language) });
  }
  return ticks;
}
