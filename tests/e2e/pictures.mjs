// Pictures for the browser tests: PNG and GIF files made by hand, of any size and colour.
import { crc32, deflateSync } from 'node:zlib';

function chunk(kind, body) {
  const out = Buffer.alloc(12 + body.length);
  out.writeUInt32BE(body.length, 0);
  out.write(kind, 4, 'latin1');
  body.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + body.length)), 8 + body.length);
  return out;
}
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
function pngOf(width, height, depth, colourType, rows) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([depth, colourType, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** `colourAt(x, y)` gives [red, green, blue]. */
export function png(width, height, colourAt) {
  const rows = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows.set(colourAt(x, y), y * (1 + 3 * width) + 1 + 3 * x);
  return pngOf(width, height, 8, 2, rows);
}
export const plain = (colour, width = 8, height = 8) => png(width, height, () => colour);

/** Few bytes, many pixels: one bit each, all black. */
export const widePng = (width, height) => pngOf(width, height, 1, 0, Buffer.alloc(height * (1 + Math.ceil(width / 8))));

/** A landscape that becomes clearer with `share`, 0 to 1. */
export function scene(width, height, share, hue = 0) {
  let s = 7 + Math.round(share * 1000) + hue * 77;
  const random = () => (s = (Math.imul(s, 1664525) + 1013904223) >>> 0) / 4294967296;
  return png(width, height, (x, y) => {
    const [u, v] = [x / width, y / height];
    const sun = Math.hypot(u - 0.7, v - 0.3) < 0.12;
    const hill = v > 0.62 + 0.08 * Math.sin(u * 7 + hue);
    const base = sun
      ? [250, 220, 120]
      : hill
        ? [30 + 20 * hue, 70, 60]
        : [90 + 60 * v, 130 + 40 * v, 190 - 40 * hue * v];
    return base.map((c) => Math.max(0, Math.min(255, Math.round(c * share + (1 - share) * 255 * random()))));
  });
}

/** An animated GIF whose frames have these colours. Codes are nine bits wide and the table is cleared before it grows. */
export function gif(colours, width = 16, height = 16, delay = 20) {
  const parts = [Buffer.from('GIF89a'), Buffer.from([width, 0, height, 0, 0xf7, 0, 0])];
  const palette = Buffer.alloc(768);
  colours.forEach((colour, i) => palette.set(colour, 3 * i));
  parts.push(palette, Buffer.from([0x21, 0xff, 11]), Buffer.from('NETSCAPE2.0'), Buffer.from([3, 1, 0, 0, 0]));
  colours.forEach((_, i) => {
    parts.push(
      Buffer.from([0x21, 0xf9, 4, 0, delay, 0, 0, 0]),
      Buffer.from([0x2c, 0, 0, 0, 0, width, 0, height, 0, 0, 8]),
    );
    const codes = [];
    for (let k = 0; k < width * height; k++) {
      if (k % 200 === 0) codes.push(256);
      codes.push(i);
    }
    codes.push(257);
    const bits = [];
    let [have, n] = [0, 0];
    for (const code of codes) {
      have |= code << n;
      n += 9;
      while (n >= 8) {
        bits.push(have & 255);
        have >>= 8;
        n -= 8;
      }
    }
    if (n > 0) bits.push(have & 255);
    for (let at = 0; at < bits.length; at += 255) {
      const block = bits.slice(at, at + 255);
      parts.push(Buffer.from([block.length, ...block]));
    }
    parts.push(Buffer.from([0]));
  });
  parts.push(Buffer.from([0x3b]));
  return Buffer.concat(parts);
}

/** A bitmap of one colour. */
export function bmp([r, g, b], width = 4, height = 4) {
  const out = Buffer.alloc(54 + width * height * 4);
  out.write('BM', 0, 'latin1');
  out.writeUInt32LE(out.length, 2);
  out.writeUInt32LE(54, 10);
  out.writeUInt32LE(40, 14);
  out.writeInt32LE(width, 18);
  out.writeInt32LE(height, 22);
  out.set([1, 0, 32, 0], 26);
  for (let i = 0; i < width * height; i++) out.set([b, g, r, 255], 54 + 4 * i);
  return out;
}

/** [10, 20, 30], four pixels wide and high. */
export const WEBP = Buffer.from('UklGRh4AAABXRUJQVlA4TBEAAAAvA8AAAAdQiirUo/+BiOh/AAA=', 'base64');
export const JPEG = Buffer.from(
  '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYU' +
    'GBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wAARCAAEAAQD' +
    'ASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAn/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAABf/EABQRAQAA' +
    'AAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AJtAEx7/2Q==',
  'base64',
);
export const AVIF = Buffer.from(
  'AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAADrbWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAAAAAAAOcGl0bQ' +
    'AAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAETAAAAHwAAAChpaW5mAAAAAAABAAAAGmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAABqaXBy' +
    'cAAAAEtpcGNvAAAAFGlzcGUAAAAAAAAABAAAAAQAAAAQcGl4aQAAAAADCAgIAAAADGF2MUOBIAAAAAAAE2NvbHJuY2x4AAEADQAGgAAAABdpcG1h' +
    'AAAAAAAAAAEAAQQBAoMEAAAAJ21kYXQSAAoIOAR9hAQ0GkAyERAAAAAP+j8amcx2K6XOl/6A',
  'base64',
);
