// What the tests of the runs panel share.
import { address, until } from './harness.mjs';

export const names = (page) => page.locator('[data-run]').evaluateAll((rows) => rows.map((row) => row.dataset.run));
export const rowOf = (page, name) => page.locator(`[data-run="${name}"]`);
export const waitHash = async (page, part) => {
  await until(`"${part}" in the address`, async () => decodeURIComponent(await address(page)).includes(part));
  return address(page);
};
export const menuOf = async (page, name, item) => {
  await rowOf(page, name).locator('.name').click({ button: 'right' });
  await page.getByRole('menu').getByText(item, { exact: true }).click();
};
