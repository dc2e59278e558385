// The audio player, of which the page has only one: the current clip, its position, and switching to another clip at the
// same position. Only one audio element plays at a time. A few elements of clips that were played or are compared are
// kept, so that switching does not wait for a download.
import { gainOf } from './gain';
import { audioSettings, audioView, type SideName } from './view.svelte';

export interface Sound {
  card: string;
  tag: string;
  url: string;
  seconds: number; // 0 if not known
  loudness: number; // in LUFS; NaN if not known
}

const MOST_KEPT = 4;

class Player {
  sound = $state.raw<Sound | null>(null);
  playing = $state(false);
  time = $state(0);
  /**
   * in a blind test, the side that is called 1, while no card shows which clip is playing; null if there is no blind test
   */
  blind = $state.raw<SideName | null>(null);
  /** the URL of the clip that the browser could not play; '' if none */
  failed = $state('');
  private readonly kept = new Map<string, HTMLAudioElement>();
  private element: HTMLAudioElement | null = null;
  private frame = 0;

  get seconds(): number {
    return this.sound?.seconds ?? 0;
  }
  /** Is this clip playing, and may the page show that? In a blind test it may not. */
  isHeard(sound: Sound | null): boolean {
    return this.playing && this.blind === null && this.isOf(sound);
  }
  isOf(sound: Sound | null): boolean {
    return sound !== null && this.sound?.url === sound.url;
  }

  /** Starts loading a clip that is likely to be played. */
  prepare({ url }: Sound): HTMLAudioElement {
    const known = this.kept.get(url);
    const element = known ?? new Audio(url);
    element.preload = 'auto';
    this.kept.delete(url);
    this.kept.set(url, element); // moved to the end: the map is ordered by last use, oldest first
    for (const [other, old] of this.kept) {
      if (this.kept.size <= MOST_KEPT) break;
      if (old === this.element) continue;
      old.removeAttribute('src');
      this.kept.delete(other);
    }
    return element;
  }

  /**
   * Makes this the current clip, at the position of the previous one. If the previous one was playing, this one plays
   * too.
   */
  switchTo(sound: Sound): void {
    if (this.isOf(sound)) {
      this.sound = sound;
      return;
    }
    const was = this.element;
    const isPlaying = this.playing;
    was?.pause();
    const element = this.prepare(sound);
    this.element = element;
    this.sound = sound;
    this.failed = '';
    const end = sound.seconds || Infinity;
    this.time = this.time < end ? this.time : 0;
    element.currentTime = this.time;
    element.onended = () => this.ended();
    element.onerror = () => {
      if (this.element !== element) return;
      this.failed = sound.url;
      this.stop();
    };
    element.onloadedmetadata = () => {
      if (this.element === element && sound.seconds === 0 && Number.isFinite(element.duration))
        this.sound = { ...sound, seconds: element.duration };
    };
    this.tune();
    if (isPlaying) this.start();
  }

  toggle(sound: Sound | null): void {
    if (!sound) return;
    if (this.playing && this.isOf(sound)) return this.stop();
    if (!this.isOf(sound) && this.sound?.tag !== sound.tag) this.time = 0; // clips of another tag start at the beginning
    this.switchTo(sound);
    this.start();
  }

  private start(): void {
    const { element } = this;
    if (!element) return;
    const [from, to] = this.range();
    if (this.time < from || this.time >= to - 0.005) this.seek(from);
    this.tune();
    this.playing = true;
    element.play().catch(() => {
      if (this.element === element && element.paused) this.playing = false;
    });
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(this.tick);
  }

  stop(): void {
    this.element?.pause();
    this.playing = false;
    cancelAnimationFrame(this.frame);
  }

  seek(time: number): void {
    this.time = Math.max(0, Math.min(this.seconds || Infinity, time));
    if (this.element) this.element.currentTime = this.time;
  }

  /** The range that is looped; the whole clip if none is selected. */
  private range(): readonly [number, number] {
    const end = this.seconds || Infinity;
    const { loop, range } = audioView;
    return loop && range && range[0] < end ? [range[0], Math.min(range[1], end)] : [0, end];
  }

  private readonly tick = (): void => {
    if (!this.element || !this.playing) return;
    this.time = this.element.currentTime;
    const [from, to] = this.range();
    if (audioView.loop && this.time >= to) this.seek(from);
    this.frame = requestAnimationFrame(this.tick);
  };

  private ended(): void {
    if (audioView.loop) {
      this.seek(this.range()[0]);
      void this.element?.play();
      return;
    }
    this.stop();
    this.time = 0;
    if (this.element) this.element.currentTime = 0;
  }

  /** Applies the current volume, speed and gain. */
  tune(): void {
    const { element, sound } = this;
    if (!element) return;
    element.volume = audioSettings.volume * gainOf(sound?.loudness ?? NaN, audioSettings.match);
    element.muted = audioSettings.muted;
    element.playbackRate = Number(audioView.speed);
  }

  /** To be called when the dashboard is closed. */
  close(): void {
    this.stop();
    this.blind = null;
    this.sound = null;
    this.element = null;
    for (const element of this.kept.values()) element.removeAttribute('src');
    this.kept.clear();
  }
}

export const player = new Player();
