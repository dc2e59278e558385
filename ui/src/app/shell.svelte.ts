// What the shell shows over the page, and how dashboards hook into it: dialogs, a short message, commands and keys of
// the dashboard that is open.
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
  key: string;
  title: string;
  run: () => void;
}

class Shell {
  dialog = $state<DialogName>('');
  message = $state.raw<Message | null>(null);
  /** of the open dashboard */
  actions = $state.raw<Action[]>([]);
  now = $state(Date.now());
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Shown for a moment, longer when there is something to do about it. */
  say(text: string, action?: Message['action']): void {
    this.message = { text, action };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.hush(), action ? 8000 : 3500);
  }

  hush(): void {
    this.message = null;
  }

  /** What the message offers is done, and the message with it. */
  act(): void {
    const action = this.message?.action;
    this.hush();
    action?.run();
  }
}

export const shell = new Shell();
