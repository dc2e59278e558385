// The command that runs these tests.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default {
  async 'a run of the browser tests leaves nothing in the temporary directory'() {
    const folder = mkdtempSync(join(tmpdir(), 'runner-'));
    try {
      const { status } = spawnSync(process.execPath, [join(import.meta.dirname, 'run.mjs'), 'no test is called so'], {
        env: { ...process.env, TMPDIR: folder },
      });
      assert.equal(status, 1); // no test ran
      assert.deepEqual(readdirSync(folder), []);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
