// Numbers, durations, bytes and times as text: four significant digits in rows, all digits on demand, thin spaces
// between thousands, NaN and infinities by name. No language in here but units, which are the same in both.
import { format } from 'd3-format';

const THIN = '\u2009';
const four = format('.4r');
const fourShort = format('.4~r');
const fourExponent = format('.3~e');
const short = format('.3~s');

/** 12 345 with thin spaces; whole numbers only. */
export function count(n: number): string {
  return Math.round(n)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, THIN);
}

/** 2.7 M: for how many points there are. */
export function big(n: number): string {
  if (n < 10000) return count(n);
  const text = short(n);
  const unit = /[a-zA-Z]$/.exec(text);
  if (!unit) return text;
  return text.slice(0, -1) + THIN + (unit[0] === 'G' ? 'B' : unit[0]);
}

/** A share of one. */
export const percent = (v: number): string =>
  Number.isFinite(v) ? `${value(Number((v * 100).toPrecision(12)))}\u202f%` : value(v);

/** Four significant digits. */
export function value(v: number): string {
  if (Number.isNaN(v)) return 'NaN';
  if (v === Infinity) return '∞';
  if (v === -Infinity) return '−∞';
  if (v === 0) return '0';
  const size = Math.abs(v);
  if (size >= 1e6 || size < 1e-4) return fourExponent(v).replace('+', '');
  if (Number.isInteger(v)) return (v < 0 ? '−' : '') + count(size);
  if (size >= 1000) {
    const [whole, part] = size.toFixed(size >= 10000 ? 0 : 1).split('.');
    const text = count(Number(whole)) + (part && part !== '0' ? `.${part}` : '');
    return (v < 0 ? '−' : '') + text;
  }
  return four(v);
}

/** A setting such as a learning rate: as short as it goes. */
export function setting(v: number): string {
  const size = Math.abs(v);
  if (v !== 0 && (size < 1e-3 || size >= 1e6)) return fourExponent(v).replace('+', '');
  return Number.isInteger(v) ? value(v) : fourShort(v);
}

/** All digits, as a program would read them. */
export function exact(v: number): string {
  return String(v);
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
