// The address bar against the view: whoever changed last counts, whatever comes first of the timer and the event.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Address } from './address';
import { view } from './view.svelte';

let bar: { hash: string; pathname: string };
let pushed: number;
let address: Address;

beforeEach(() => {
  vi.useFakeTimers();
  bar = { hash: '', pathname: '/' };
  pushed = 0;
  const set = (_state: unknown, _title: string, url: string) => (bar.hash = url.slice(url.indexOf('#')));
  vi.stubGlobal('location', bar);
  vi.stubGlobal('history', {
    replaceState: set,
    pushState: (...all: [unknown, string, string]) => (pushed++, set(...all)),
  });
  address = new Address();
  view.decode('#timeseries&v=1');
  address.open({ hash: view.encode(), search: '' });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A change in the page: what the shell's effect does. */
const filter = (text: string) => {
  view.runFilter = text;
  address.follow(view.encode());
};

describe('the address', () => {
  it('follows the view when it rests', () => {
    filter('a');
    filter('ab');
    expect(bar.hash).toBe('#timeseries&v=1');
    vi.advanceTimersByTime(150);
    expect(bar.hash).toBe('#timeseries&runs=ab');
    expect(pushed).toBe(0);
  });
  it('of another tab is another page of the browser’s history', () => {
    view.tab = 'images';
    address.follow(view.encode());
    vi.advanceTimersByTime(150);
    expect(pushed).toBe(1);
  });
  it('that somebody sets is read', () => {
    bar.hash = '#timeseries&runs=b';
    address.read();
    expect(view.runFilter).toBe('b');
  });
  it('that is set just before the view is written stays, though its event comes later', () => {
    filter('old');
    vi.advanceTimersByTime(100);
    bar.hash = '#timeseries&runs=new';
    vi.advanceTimersByTime(50); // the timer of the view fires first
    address.read(); // then the event comes
    expect(bar.hash).toBe('#timeseries&runs=new');
    expect(view.runFilter).toBe('new');
    filter('newer');
    vi.advanceTimersByTime(150);
    expect(bar.hash).toBe('#timeseries&runs=newer');
  });
  it('with other percent signs than ours is left as it is', () => {
    bar.hash = '#timeseries&runs=%61';
    address.read();
    expect(view.runFilter).toBe('a');
  });
});
