import { describe, expect, it } from 'vitest';
import { en } from './en';
import { zh } from './zh';

const holes = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();

describe('catalogues', () => {
  it('have the same keys', () => expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort()));
  it('fill in the same values', () => {
    for (const key of Object.keys(en) as (keyof typeof en)[])
      expect([key, holes(zh[key])]).toEqual([key, holes(en[key])]);
  });
  it('leave nothing empty', () => {
    for (const catalogue of [en, zh]) for (const text of Object.values(catalogue)) expect(text).not.toBe('');
  });
});
