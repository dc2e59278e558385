// What the shell shows over the page, and how dashboards hook into it: dialogs, a short message, commands and keys of
// the dashboard that is open.
import { untrack } from 'svelte';

export type DialogName = '' | 'keys' | 'settings' | 'palette' | 'damage' | 'views';

export interface Command {
  id: string;
  title: string;
  hint?: string;
  run: () => void;
}
export interface Message {
  text: string;
  action?: { title: string; run: () => void };
}
export interface Action {
  key?: string; // without one it is in the palette only
  title: string;
  run: () => void;
}

class Shell {
  dialog = $state<DialogName>('');
  message = $state.raw<Message | null>(null);
  #providers = $state.raw<readonly (() => Action[])[]>([]);
  /** The open dashboard draws smoothed lines, so numbers that are not smoothed are marked as raw. */
  isSmoothed = $state(false);
  now = $state(Date.now());
  /** How many forms somebody opened whose code is still being loaded: keys are meant for them, not for the page. */
  #opening = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Keys and entries of the palette that parts of the open dashboard add. */
  get actions(): Action[] {
    return this.#providers.flatMap((provider) => provider());
  }
  /** While a component starts: adds actions for as long as it is there. */
  use(provider: () => Action[]): void {
    $effect(() => {
      untrack(() => (this.#providers = [...this.#providers, provider]));
      return () => (this.#providers = this.#providers.filter((other) => other !== provider));
    });
  }

  get isOpening(): boolean {
    return this.#opening > 0;
  }
  /** A form opens that takes the keys; returns what to call once it is there, or no longer wanted. */
  opens(): () => void {
    let isOver = false;
    this.#opening++;
    return () => {
      if (!isOver) this.#opening--;
      isOver = true;
    };
  }

  /** Shown for a moment, longer when there is something to do about it. */
  say(text: string, action?: Message['action']): void {
    this.message = { text, action };
    clearTimeout(this.#timer);
    this.#hushIn(action ? 20000 : 3500);
  }

  /** Waits once more while the pointer or the focus is on the message: somebody reads it, or is about to click. */
  #hushIn(ms: number): void {
    this.#timer = setTimeout(
      () => (document.querySelector('.message:is(:hover, :focus-within)') ? this.#hushIn(ms) : this.hush()),
      ms,
    );
  }

  hush(): void {
    this.message = null;
  }

  /** Runs the action that the message offers, and closes the message. */
  act(): void {
    const action = this.message?.action;
    this.hush();
    action?.run();
  }
}

export const shell = new Shell();
