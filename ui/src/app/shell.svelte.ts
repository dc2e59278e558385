// What the shell shows over the page, and how dashboards hook into it: dialogs, a short message, commands and keys of
// the dashboard that is open.
export type DialogName = '' | 'keys' | 'settings' | 'palette' | 'damage' | 'save';

export interface Command {
  id: string;
  title: string;
  hint?: string;
  run: () => void;
}
export interface Action {
  key: string;
  title: string;
  run: () => void;
}

class Shell {
  dialog = $state<DialogName>('');
  message = $state('');
  /** of the open dashboard */
  actions = $state.raw<Action[]>([]);
  now = $state(Date.now());
  private timer: ReturnType<typeof setTimeout> | undefined;

  say(text: string): void {
    this.message = text;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.message = ''), 3500);
  }
}

export const shell = new Shell();
