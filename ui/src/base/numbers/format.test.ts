import { describe, expect, it } from 'vitest';
import { big, bytes, count, digitsFor, duration, exact, percent, setting, value } from './format';

const T = '\u2009';

describe('numbers', () => {
  it('keeps four significant digits', () => {
    expect(value(0.91272)).toBe('0.9127');
    expect(value(0.382)).toBe('0.3820');
    expect(value(12.34567)).toBe('12.35');
    expect(value(4000)).toBe(`4${T}000`);
    expect(value(1234.56)).toBe(`1${T}234.6`);
    expect(value(1.5e-7)).toBe('1.5e−7');
    expect(value(0)).toBe('0');
  });
  it('names what is no number', () => {
    expect([value(NaN), value(Infinity), value(-Infinity)]).toEqual(['NaN', '∞', '−∞']);
  });
  it('has as many digits as tell values of a range apart', () => {
    const digits = digitsFor([1 - 1e-6, 1 + 1e-6]);
    expect([1 - 5e-7, 1 + 1e-8, 1 + 5e-7].map((v) => value(v, digits))).toEqual([
      '0.999999500',
      '1.00000001',
      '1.00000050',
    ]);
    expect(digitsFor([0, 3])).toBe(4);
    expect(digitsFor([-2, 1e6])).toBe(4);
    expect(digitsFor([1000, 1000.001])).toBe(9);
    expect(digitsFor([5, 5])).toBe(4);
    expect(digitsFor([NaN, 1])).toBe(4);
    expect(digitsFor([1e9, 1e9 + 1e-6])).toBe(15);
    expect(value(1234567.25, 10)).toBe('1.23456725e6');
    expect(percent(0.9999995, 9)).toBe('99.9999500\u202f%');
    expect(percent(0.996, 2)).toBe('99.6\u202f%');
    expect(percent(0.999961)).toBe('99.996\u202f%');
    expect(percent(1, 2)).toBe('100\u202f%');
    expect(percent(0.9999999999, 2)).toBe('100\u202f%');
    expect(percent(1.004, 2)).toBe('100\u202f%');
  });
  it('rounds to the next power without a digit more, and keeps signs', () => {
    expect([value(0.99999), value(999.96), value(-0.25), value(-1234.5)]).toEqual([
      '1.000',
      '1\u2009000',
      '−0.2500',
      '−1\u2009234.5',
    ]);
    expect([big(999999), big(123456), setting(-0.25)]).toEqual(['1\u2009M', '123\u2009k', '−0.25']);
  });
  it('gives all digits on demand', () => expect(exact(0.1 + 0.2)).toBe('0.30000000000000004'));
  it('shows settings as short as they go', () => {
    expect(setting(0.0003)).toBe('3e−4');
    expect(setting(0.001)).toBe('0.001');
    expect(setting(256)).toBe('256');
  });
  it('parts thousands by thin spaces and shortens large counts', () => {
    expect(count(1234567)).toBe(`1${T}234${T}567`);
    expect(big(1840)).toBe(`1${T}840`);
    expect(big(2.7e6)).toBe(`2.7${T}M`);
    expect(big(1.24e9)).toBe(`1.24${T}B`);
  });
});

describe('durations and sizes', () => {
  it('speaks as people do', () => {
    expect(duration(11520)).toBe('3 h 12 min');
    expect(duration(0.25)).toBe('250 ms');
    expect(duration(4.2)).toBe('4.2 s');
    expect(duration(90)).toBe('1 min 30 s');
    expect(duration(3599)).toBe('1 h');
    expect(duration(86400 * 2 + 3600 * 3)).toBe('2 d 3 h');
    expect(duration(NaN)).toBe('–');
  });
  it('counts bytes in thousands', () => {
    expect([bytes(812), bytes(1500), bytes(81234567)]).toEqual(['812 B', '1.5 kB', '81 MB']);
  });
});
