// What the tests of the profile page share: a server with captures, the page, its tabs, tracks and parts.
import { address, loaded, open, serve, until } from './harness.mjs';
import { kineto, writeTrace } from './profiles.mjs';

const write = (logdir) => writeTrace(logdir, 'vit', 'host_1', kineto());
export async function made(fill = write) {
  const server = await serve('fresh', fill);
  await until('captures', async () => (await loaded(server)).plugins.profile > 0);
  return server;
}
export const openProfile = async (server, hash = '#profile&v=1', options = {}) => {
  const page = await open(server, hash, options);
  await page.getByRole('radiogroup', { name: /Pages of the profile|性能分析页面/ }).waitFor();
  return page;
};
export const CANVAS = '.tall canvas';
export const painted = (page) => page.waitForSelector(`${CANVAS}[data-painted]:not([data-painted="0"])`);
export async function openTimeline(server, hash = '#profile&v=1&profile.page=timeline', options = {}) {
  const page = await openProfile(server, hash, options);
  await painted(page);
  return page;
}
export const tab = (page, name) => page.getByRole('radio', { name, exact: true });
/** A row of names at the left, by its text. */
export const row = (page, name) => page.locator('.names .row').filter({ hasText: name }).first();
/** Clicks the first slice of a track, which begins at a share of the width. */
export async function clickTrack(page, name, share, lane = 0) {
  const at = await row(page, name).boundingBox();
  const canvas = await page.locator(CANVAS).boundingBox();
  await page.mouse.click(canvas.x + canvas.width * share, at.y + 3 + 18 * lane + 8);
}
export const details = (page) => page.getByRole('region', { name: 'Selected slice' });
export const range = (page) => page.getByRole('region', { name: 'Selected range' });
export const windowOf = async (page) => /profile\.window=([^&]*)/.exec(await address(page))?.[1] ?? '';
export async function downloaded(page, act) {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  let text = '';
  for await (const part of await download.createReadStream()) text += part;
  return { name: download.suggestedFilename(), text };
}
