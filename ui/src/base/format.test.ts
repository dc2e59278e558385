import { describe, expect, it } from 'vitest';
import { big, bytes, count, duration, exact, setting, value } from './format';

const T = '\u2009';

describe('numbers', () => {
  it('keeps four significant digits', () => {
    expect(value(0.91272)).toBe('0.9127');
    expect(value(0.382)).toBe('0.3820');
    expect(value(12.34567)).toBe('12.35');
    expect(value(4000)).toBe(`4${T}000`);
    expect(value(1234.56)).toBe(`1${T}234.6`);
    expect(value(1.5e-7)).toBe('1.5e-7');
    expect(value(0)).toBe('0');
  });
  it('names what is no number', () => {
    expect([value(NaN), value(Infinity), value(-Infinity)]).toEqual(['NaN', '∞', '−∞']);
  });
  it('gives all digits on demand', () => expect(exact(0.1 + 0.2)).toBe('0.30000000000000004'));
  it('shows settings as short as they go', () => {
    expect(setting(0.0003)).toBe('3e-4');
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
