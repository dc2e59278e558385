// Menu entries for an image, wherever it is shown: compare, copy, download.
import { copyText, type MenuItem } from '../../../public';
import type { Spot } from '../../../rooms/media/shelf';
import { nameFor, originalUrl } from '../picture/sources';
import { ti } from '../texts';
import { imagesView, sideOf } from '../view.svelte';

export function pictureItems(spot: Spot | null, run: string): MenuItem[] {
  if (!spot) return [];
  const side = () => sideOf(spot.tag, run, spot.sample, spot.step);
  return [
    { label: ti('asA'), run: () => imagesView.choose('a', side()) },
    { label: ti('asB'), run: () => imagesView.choose('b', side()) },
    { label: '', separator: true },
    { label: ti('original'), href: originalUrl(spot), download: nameFor(spot) },
    { label: ti('copyLink'), run: () => void copyText(originalUrl(spot)) },
  ];
}
