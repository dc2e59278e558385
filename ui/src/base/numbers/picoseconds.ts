// Times of a profile, in picoseconds, as people read them; ticks of the ruler.
import { padded } from './align';
import { count, setting, value } from './format';

const UNITS = [
  [1e12, 's'],
  [1e9, 'ms'],
  [1e6, 'µs'],
  [1e3, 'ns'],
  [1, 'ps'],
] as const;
export type Unit = (typeof UNITS)[number][1];

/** The largest unit of which there is at least one. */
export const unitFor = (ps: number): Unit => (UNITS.find(([size]) => Math.abs(ps) >= size) ?? UNITS[4])[1];
const sizeOf = (unit: Unit) => UNITS.find(([, name]) => name === unit)?.[0] ?? 1;

/** "184.2 ms" */
export function time(ps: number, unit = unitFor(ps)): string {
  if (ps === 0) return '0';
  return `${value(ps / sizeOf(unit))}\u202f${unit}`;
}
/** Without the unit, which stands in the head of the column: "184.2". */
export const inUnit = (ps: number, unit: Unit): string => (ps === 0 ? '0' : value(ps / sizeOf(unit)));
/** As short as it goes, for marks of an axis: "0.5", "1". */
export const onAxis = (ps: number, unit: Unit): string => setting(ps / sizeOf(unit));

const DECIMALS = 3;
/** In a column of times that share a unit: decimal points are below each other, and what is less than the last decimal says so. */
export function inColumn(ps: number, unit: Unit): string {
  if (ps === 0) return padded('0', DECIMALS);
  const [whole, part] = (Math.abs(ps) / sizeOf(unit)).toFixed(DECIMALS).split('.');
  if (Number(whole) === 0 && Number(part) === 0) return ps > 0 ? '<0.001' : '>−0.001';
  return `${ps < 0 ? '−' : ''}${count(Number(whole))}.${part}`;
}

export interface Tick {
  at: number;
  text: string;
}
/** Round times between two, at least so far apart; with so many digits that neighbours differ. */
export function ticks(from: number, to: number, least: number): { step: number; all: Tick[] } {
  const raw = Math.max(least, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw) ?? 10 * power;
  const unit = unitFor(Math.max(Math.abs(to), step));
  const digits = Math.max(0, Math.ceil(Math.log10(sizeOf(unit) / step) - 1e-9));
  const all: Tick[] = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++)
    all.push({ at: i * step, text: `${((i * step) / sizeOf(unit)).toFixed(digits)}\u202f${unit}` });
  return { step, all };
}
