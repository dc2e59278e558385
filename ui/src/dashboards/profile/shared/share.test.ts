import { describe, expect, it } from 'vitest';
import { shareInColumn } from './share';

describe('shares in columns', () => {
  it('have one decimal', () =>
    expect([0.0829, 0.13, 1, 0].map(shareInColumn)).toEqual(
      ['8.3', '13.0', '100.0', '0.0'].map((text) => `${text}\u202f%`),
    ));
  it('never say nothing or all where it is not so', () =>
    expect([0.000306, 0.0005, 0.99996].map(shareInColumn)).toEqual(
      ['<0.1', '0.1', '99.9'].map((text) => `${text}\u202f%`),
    ));
});
