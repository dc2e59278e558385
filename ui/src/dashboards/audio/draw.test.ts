import { describe, expect, it } from 'vitest';
import { frequencyTicks, ramp, timeTicks } from './draw';
import { gainOf, LOUDNESS } from './gain';

describe('pictures of clips', () => {
  it('have round times on their axis, as many as there is room for', () => {
    expect(timeTicks(1.6, 8).map((t) => t.text)).toEqual([
      '0.0 s',
      '0.2 s',
      '0.4 s',
      '0.6 s',
      '0.8 s',
      '1.0 s',
      '1.2 s',
      '1.4 s',
      '1.6 s',
    ]);
    expect(timeTicks(3600, 6).map((t) => t.text)).toEqual([
      '0:00',
      '10:00',
      '20:00',
      '30:00',
      '40:00',
      '50:00',
      '60:00',
    ]);
    expect(timeTicks(0.004, 4).map((t) => t.text)).toEqual(['0.000 s', '0.001 s', '0.002 s', '0.003 s', '0.004 s']);
    expect(timeTicks(0, 5)).toEqual([]);
    expect(timeTicks(NaN, 5)).toEqual([]);
  });
  it('name frequencies that are apart and below half the rate', () => {
    const names = frequencyTicks('mel', 16000, 104).map((t) => t.text);
    expect(names).toContain('2k');
    expect(names).not.toContain('10k');
    for (const scale of ['mel', 'linear'] as const) {
      const places = frequencyTicks(scale, 44100, 104).map((t) => t.at * 104);
      for (let i = 1; i < places.length; i++) expect(places[i] - places[i - 1]).toBeGreaterThanOrEqual(18);
    }
  });
  it('run from the ground colour to its opposite', () => {
    const light = ramp(false, 80, 200);
    expect(light[0]).toBe(0xffffffff);
    expect(light[200]).toBe(0xff381808);
    expect(light[255]).toBe(light[200]);
    expect(ramp(true, 80, 255)[0]).toBe(0xff271d15);
  });
});

describe('loudness', () => {
  it('is matched by turning down what is louder, never up', () => {
    expect(gainOf(LOUDNESS + 20, true)).toBeCloseTo(0.1);
    expect(gainOf(LOUDNESS - 20, true)).toBe(1);
    expect(gainOf(LOUDNESS + 20, false)).toBe(1);
    expect(gainOf(NaN, true)).toBe(1);
    expect(gainOf(-Infinity, true)).toBe(1);
  });
});
