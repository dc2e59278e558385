// Numbers, durations, bytes and times as text: four significant digits in rows, all digits on demand, thin spaces
// between thousands, NaN and infinities by name. No language in here but units, which are the same in both.

const THIN = '\u2009';
const FOUR = 4;
const parted = (whole: string) => whole.replace(/\B(?=(\d{3})+$)/g, THIN);
const signOf = (v: number) => (v < 0 ? '−' : '');
const rounded = (v: number, digits: number) => Number(v.toPrecision(digits));

/** 12 345 with thin spaces; whole numbers only. */
export function count(n: number): string {
  return signOf(Math.round(n)) + parted(Math.abs(Math.round(n)).toFixed(0));
}

const LARGE = [
  [1e15, 'P'],
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

/** 2.7 M: for how many points there are. */
export function big(n: number): string {
  const v = rounded(n, 3);
  const [by, unit] = LARGE.find(([size]) => v >= size) ?? [1, ''];
  return n < 10000 ? count(n) : `${rounded(v / by, 3)}${THIN}${unit}`;
}

const DIGITS_OF_SHARES = 8;

/** A share of one. What is less than all is not rounded up to all: 99.6 %, though two digits would say 100 %. */
export function percent(v: number, digits = FOUR): string {
  if (!Number.isFinite(v)) return value(v);
  const share = rounded(v * 100, Math.max(12, digits));
  const isAll = (n: number) => share < 100 && rounded(share, n) === 100;
  let n = digits;
  while (n < DIGITS_OF_SHARES && isAll(n)) n++;
  return `${value(share, isAll(n) ? digits : n)}\u202f%`;
}

/** 1.5e−7: so many digits, less the zeros at their end. */
const exponent = (v: number, digits: number) =>
  signOf(v) +
  Math.abs(v)
    .toExponential(digits - 1)
    .replace(/(\.\d*?)0+e/, '$1e')
    .replace('.e', 'e')
    .replace('+', '')
    .replace('-', '−');

/** Four significant digits, or as many as are asked for. */
export function value(v: number, digits = FOUR): string {
  if (Number.isNaN(v)) return 'NaN';
  if (v === Infinity) return '∞';
  if (v === -Infinity) return '−∞';
  if (v === 0) return '0';
  const size = Math.abs(v);
  if (size >= 1e6 || size < 1e-4) return exponent(v, digits);
  if (Number.isInteger(v)) return count(v);
  // one digit more between a thousand and ten thousand, so that 1 234.6 is not shown as 1 235
  const all = digits === FOUR && size >= 1000 && size < 10000 ? FOUR + 1 : digits;
  const power = Math.floor(Math.log10(rounded(size, all)) + 1e-12);
  const [whole, part = ''] = size.toFixed(Math.max(0, all - 1 - power)).split('.');
  const isWhole = part === '' || (size >= 1000 && /^0+$/.test(part));
  return signOf(v) + parted(whole) + (isWhole ? '' : `.${part}`);
}

const MOST_DIGITS = 15; // a double has no more

/** How many digits tell apart values that are a hundredth of the range from each other; never less than four. */
export function digitsFor([low, high]: readonly [number, number]): number {
  const size = Math.max(Math.abs(low), Math.abs(high));
  const step = (high - low) / 100;
  if (!(step > 0) || !Number.isFinite(size)) return FOUR;
  const needed = Math.floor(Math.log10(size) + 1e-6) - Math.floor(Math.log10(step) + 1e-6) + 1;
  return Math.min(MOST_DIGITS, Math.max(FOUR, needed));
}

/** A setting such as a learning rate: as short as it goes. */
export function setting(v: number): string {
  const size = Math.abs(v);
  if (v !== 0 && (size < 1e-3 || size >= 1e6)) return exponent(v, FOUR);
  return Number.isInteger(v) || !Number.isFinite(v) ? value(v) : signOf(v) + String(rounded(size, FOUR));
}

/** All digits, as a program would read them. */
export function exact(v: number): string {
  return String(v);
}

/** Digits that tell these values apart; NaN and infinities are left out. */
export function digitsOf(values: Iterable<unknown>): number {
  let low = Infinity;
  let high = -Infinity;
  for (const v of values) {
    if (typeof v !== 'number' || !Number.isFinite(v)) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return digitsFor([low, high]);
}

/** "3 h 12 min", "4.2 s", "2 d 3 h". */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–';
  const sign = seconds < 0 ? '−' : '';
  const s = Math.abs(seconds);
  if (s < 0.0005) return '0 s';
  if (s < 1) return `${sign}${Math.round(s * 1000)} ms`;
  if (s < 9.95) return `${sign}${s.toFixed(1)} s`;
  if (s < 59.5) return `${sign}${Math.round(s)} s`;
  const two = (a: number, au: string, b: number, bu: string) => `${sign}${a} ${au}${b ? ` ${b} ${bu}` : ''}`;
  const minutes = Math.round(s / 60);
  if (s < 3570) {
    const whole = Math.round(s);
    return two(Math.floor(whole / 60), 'min', whole % 60, 's');
  }
  if (minutes < 1440) return two(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  const hours = Math.round(s / 3600);
  return two(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
export function bytes(n: number): string {
  let unit = 0;
  while (n >= 999.5 && unit < UNITS.length - 1) {
    n /= 1000;
    unit++;
  }
  return `${unit && n < 9.95 ? n.toFixed(1) : Math.round(n)} ${UNITS[unit]}`;
}

const pad = (n: number, digits = 2) => String(n).padStart(digits, '0');

/** Wall time in the viewer's zone: "2026-11-15 14:03:22"; without the date when it is today. */
export function wall(seconds: number, now = Date.now()): string {
  const d = new Date(seconds * 1000);
  if (Number.isNaN(d.getTime())) return '–';
  const time = `${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}`;
  if (d.toDateString() === new Date(now).toDateString()) return time;
  return `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())} ${time}`;
}

/** The same with date always, as it can be typed again. */
export function moment(seconds: number): string {
  return wall(seconds, NaN);
}

export function iso(seconds: number): string {
  const d = new Date(seconds * 1000);
  return Number.isNaN(d.getTime()) ? '–' : d.toISOString();
}
