// Menu entries of a clip for copying and downloading, and its audio format as one line of text.
import { copyText, format, saveUrl, type MenuItem } from '../../public';
import { fileName } from '../../rooms/export/files';
import type { ClipData } from './clip.svelte';
import type { Drawn } from './question';
import { tt } from './texts';

/** "22.05 kHz · mono · 16 bit · 4.200 s" */
export function formatText({ rate, channels, bits, isFloat, seconds }: Drawn): string {
  const hertz = rate >= 1000 ? tt('khz', { n: format.value(rate / 1000, 5) }) : tt('hz', { n: rate });
  const wide = channels === 1 ? tt('mono') : channels === 2 ? tt('stereo') : tt('channels', { n: channels });
  const deep = tt(isFloat ? 'float' : 'bits', { n: bits });
  return `${hertz} · ${wide} · ${deep} · ${seconds < 60 ? `${seconds.toFixed(3)} s` : format.duration(seconds)}`;
}

const ENDINGS: Record<string, string> = {
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'audio/mp4': 'm4a',
  'video/mp4': 'mp4',
};

export function saveClip(data: ClipData, name: string): void {
  saveUrl(data.url, `${fileName(`${name}_${data.step}`)}.${ENDINGS[data.spot?.type ?? ''] ?? 'bin'}`);
}

export const clipItems = (data: ClipData, name: string, savePicture: () => void): MenuItem[] => [
  { label: tt('download'), disabled: data.url === '', run: () => saveClip(data, name) },
  { label: tt('downloadPicture'), disabled: !data.drawn || data.drawn.columns === 0, run: savePicture },
  {
    label: tt('copyMeasures'),
    disabled: !data.drawn || data.drawn.trouble !== undefined,
    run: () => {
      const { drawn } = data;
      if (drawn)
        void copyText(
          JSON.stringify({
            step: data.step,
            seconds: drawn.seconds,
            rate: drawn.rate,
            channels: drawn.channels,
            peak: drawn.peak,
            loudness: Number.isFinite(drawn.loudness) ? drawn.loudness : null,
            clipped: drawn.clipped,
          }),
        );
    },
  },
];
