import { spawn } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { findOnPath } from '../../scripts/system/find-on-path.mjs';
import { projectRoot } from '../../scripts/system/project.mjs';

/** The server of Temporal is built once per machine. */
const WITHIN_MS = 900_000;
// Without them `npm run rehearse` names what is missing.
const canRun = findOnPath(['go', 'temporal-server']) !== undefined && process.platform === 'linux';

(canRun ? it : it.skip)(
  'a rehearsal plays runs on a Temporal server of four roles, and notices a fault of each kind',
  async () => {
    const options = ['--minutes', '0.2', '--sessions', '6', '--plant', 'all'];
    const child = spawn(process.execPath, ['scripts/rehearse.mjs', ...options], {
      cwd: projectRoot,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => (output += text));
    }
    const code = await new Promise((resolve) => child.once('close', resolve));
    const [verdict] = /^VERDICT .*$/m.exec(output) ?? [output];
    expect(verdict).toMatch(
      /^VERDICT lost [1-9]\d* doubled [1-9]\d* stuck [1-9]\d* twice 1 leaked [1-9]\d* recovery_p99 \d+$/,
    );
    expect(code).toBe(1);
  },
  WITHIN_MS,
);
