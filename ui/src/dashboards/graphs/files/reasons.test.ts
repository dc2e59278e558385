import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REASONS } from './reasons';

describe('reasons why a text is no graph', () => {
  it('are all those that the parser of the server gives', () => {
    const parser = readFileSync(join(import.meta.dirname, '../../../../../src/codec/proto/text_parse.c'), 'utf8');
    const given = [...parser.matchAll(/\bfail(?:_at)?\(p, (?:SB_\w+, [^";]*)?"([^"]+)"/g)].map((m) => m[1]);
    expect(given.length).toBeGreaterThan(15);
    expect(new Set(given)).toEqual(new Set(Object.keys(REASONS)));
  });
});
