// The request for the picture of one clip: its waveform, spectrogram and measurements.
import { ok, toNumber, type ClipPicture, type Question } from '../../public';

/** The measurements of a clip and the data of its picture. */
export interface Drawn {
  trouble?: ClipPicture['trouble'];
  message: string;
  seconds: number;
  rate: number;
  channels: number;
  bits: number;
  isFloat: boolean;
  isCut: boolean;
  peak: number;
  loudness: number;
  clipped: number;
  notFinite: number;
  columns: number;
  rows: number;
  low: Uint8Array;
  high: Uint8Array;
  spectrum: Uint8Array;
}

const bytesOf = (text = ''): Uint8Array => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** The path identifies the exact bytes of the clip, so the answer never becomes outdated. */
export function pictureQuestion(path: string): Question<Drawn> {
  return {
    key: path,
    depends: null,
    asks: () => [{ path, as: 'json' }],
    take([reply]) {
      const p = reply as ClipPicture;
      return ok({
        trouble: p.trouble,
        message: p.message ?? '',
        seconds: p.seconds ?? 0,
        rate: p.rate ?? 0,
        channels: p.channels ?? 0,
        bits: p.bits ?? 0,
        isFloat: p.isFloat ?? false,
        isCut: p.isCut ?? false,
        peak: p.peak ?? 0,
        loudness: toNumber(p.loudness ?? '-Infinity'),
        clipped: p.clipped ?? 0,
        notFinite: p.notFinite ?? 0,
        columns: p.columns ?? 0,
        rows: p.rows ?? 0,
        low: bytesOf(p.low),
        high: bytesOf(p.high),
        spectrum: bytesOf(p.spectrum),
      });
    },
    sizeOf: ({ spectrum, low }) => 500 + spectrum.length + 2 * low.length,
  };
}
