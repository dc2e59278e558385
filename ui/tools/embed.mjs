// embed.mjs OUT TABLE.c BYTES.S: writes the built page as an assembler file that includes the bytes, and the C table
// that src/server/assets.c looks into: path, type, name for If-None-Match, and the bytes plain, gzip and brotli.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { extname, join, relative, resolve, sep } from 'node:path';

const [out, table, bytes] = process.argv.slice(2).map((p) => resolve(p));
const types = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.svg': 'image/svg+xml',
    '.json': 'application/json',
    '.woff2': 'font/woff2',
    '.wasm': 'application/wasm',
};

function* files(folder) {
    for (const name of readdirSync(folder).sort()) {
        const path = join(folder, name);
        if (statSync(path).isDirectory()) yield* files(path);
        else if (!/\.(br|gz)$/.test(name)) yield path;
    }
}

const quote = (text) => JSON.stringify(text);
const asm = ['    .section .rodata'];
const declared = [];
const rows = [];
let n = 0;

function include(path) {
    if (!existsSync(path)) return '{NULL, 0}';
    const name = `sb_asset_bytes_${n++}`;
    asm.push(`    .balign 16\n    .globl ${name}\n    .hidden ${name}\n${name}:\n    .incbin ${quote(path)}`);
    declared.push(`extern const uint8_t ${name}[];`);
    return `{${name}, ${statSync(path).size}}`;
}

for (const path of files(out)) {
    const name = relative(out, path).split(sep).join('/');
    const etag = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 20);
    const type = types[extname(path)] ?? 'application/octet-stream';
    rows.push(
        `    {${quote(name)}, {.identity = ${include(path)}, .gzip = ${include(`${path}.gz`)}, ` +
            `.br = ${include(`${path}.br`)}, .content_type = ${quote(type)}, .etag = ${quote(etag)}}},`,
    );
}
asm.push('    .section .note.GNU-stack,"",%progbits', '');
writeFileSync(bytes, asm.join('\n'));
writeFileSync(
    table,
    `/* Written by ui/tools/embed.mjs. */
#include "server/assets_int.h"
${declared.join('\n')}
const sb_asset sb_asset_table[] = {
${rows.join('\n')}
};
const size_t sb_asset_count = ${rows.length};
`,
);
