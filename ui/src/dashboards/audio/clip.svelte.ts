// The clip of one card, at the wanted step or the newest one, and its picture.
import { AHEAD, apiUrl, IN_SIGHT, LiveQuery } from '../../public';
import { ahead, type Load } from '../../rooms/media/ahead';
import { ListedSteps } from '../../rooms/media/list.svelte';
import type { Shelf, Spot } from '../../rooms/media/shelf';
import { player, type Sound } from './player.svelte';
import { pictureQuestion, type Drawn } from './question';
import { audioView } from './view.svelte';

/** Widths in which pictures are requested. There are only a few, so that a resize seldom causes a request. */
const WIDTHS = [240, 480, 800, 1200, 1800];

/**
 * Bytes of the largest clip that is prefetched. A longer clip is streamed, because loading all of it would take too long.
 */
const MOST_PREFETCHED = 4 << 20;

const queryOf = ({ run, tag, sample, at, step }: Spot): URLSearchParams =>
  new URLSearchParams({ run: String(run), step: String(step), index: String(sample), at, tag });

/** The URL of the bytes as they were logged. */
const clipUrl = (spot: Spot): string => apiUrl(`blob?${queryOf(spot).toString()}`);

/** Loads a URL into the browser's cache. */
function fetchAhead(url: string): Load {
  const unwanted = new AbortController();
  const over = fetch(url, { priority: 'low', signal: unwanted.signal })
    .then((reply) => reply.arrayBuffer())
    .catch(() => undefined);
  return { over, drop: () => unwanted.abort() };
}

export class ClipData extends ListedSteps {
  /** width of the picture in pixels */
  width = $state(0);
  private readonly drawing = new LiveQuery<Drawn>();

  /** `fixed` is a step that does not follow the slider of the card; null if it follows. */
  constructor(
    card: string,
    private readonly fixed: () => number | null = () => null,
  ) {
    super(card, 'audio');
  }
  protected override wantedStep(): number | null {
    return this.fixed() ?? super.wantedStep();
  }
  protected override choose(all: Shelf): Shelf {
    return all.having(audioView.sampleOf(this.tag));
  }

  readonly sample = $derived.by(() => audioView.sampleOf(this.tag));
  readonly samples = $derived(this.shelf?.samples ?? 0);
  readonly spot = $derived(this.shelf?.spot(this.index, this.sample) ?? null);

  readonly drawn = $derived(this.drawing.answer ?? null);
  /** true if nothing that is known of the clip prevents playing it */
  readonly canPlay = $derived.by(() => {
    const { spot, drawn } = this;
    if (!spot || drawn?.trouble === 'header') return false;
    return spot.type.startsWith('audio/') || spot.type.startsWith('video/');
  });
  readonly url = $derived(this.spot ? clipUrl(this.spot) : '');
  /** What the player needs to play it. */
  readonly sound = $derived.by((): Sound | null => {
    const { spot, drawn } = this;
    if (!this.canPlay || !spot || (drawn?.trouble === undefined && drawn?.seconds === 0)) return null;
    return {
      card: this.card,
      tag: this.tag,
      url: this.url,
      seconds: drawn?.seconds || (spot.rate ? spot.frames / spot.rate : 0),
      loudness: drawn?.loudness ?? NaN,
    };
  });

  /** Is it known what the card shows? A long clip takes the server a while: the card waits, it is not empty. */
  override get isAnswered(): boolean {
    return super.isAnswered && (this.spot === null || this.drawn !== null);
  }
  override get trouble() {
    return super.trouble ?? this.drawing.trouble;
  }
  override tryNow(): void {
    super.tryNow();
    this.drawing.tryNow();
  }
  override set inSight(isInSight: boolean) {
    super.inSight = isInSight;
    this.drawing.setPriority(isInSight ? IN_SIGHT : AHEAD);
  }

  private pathOf(spot: Spot): string {
    const columns = WIDTHS.find((w) => w >= this.width) ?? WIDTHS[WIDTHS.length - 1];
    return `audio/picture?${queryOf(spot).toString()}&columns=${columns}&rows=96&scale=${audioView.scale}`;
  }

  /** To be called in an effect. */
  override follow(): void {
    super.follow();
    this.drawing.follow(() => (this.spot && this.width > 0 ? pictureQuestion(this.pathOf(this.spot)) : null));
    // Prefetches the neighbours of the shown step when everything visible is loaded: their pictures and, if this is the
    // clip of the player, their bytes too. So playback continues without a gap when the slider is moved.
    $effect(() => {
      if (!this.isInSight || !this.drawn || !this.spot || this.width === 0) return;
      const beside = this.beside.flatMap((index) => this.shelf?.spot(index, this.sample) ?? []);
      const urls = beside.map((spot) => apiUrl(this.pathOf(spot)));
      if (player.isOf(this.sound))
        for (const spot of beside) if (spot.bytes <= MOST_PREFETCHED) urls.push(clipUrl(spot));
      ahead.want(this, urls, fetchAhead);
    });
    $effect(() => (this.isInSight ? () => ahead.forget(this) : undefined));
  }
}
