import { spawn } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { findPostgres } from '../../scripts/engines/postgres.mjs';
import { findTemporalPrograms } from '../../scripts/engines/temporal-programs.mjs';
import { projectRoot } from '../../scripts/system/project.mjs';

const WITHIN_MS = 300_000;
// `npm run rehearse` installs them, which takes longer than all tests together.
const hasEngines = await Promise.all([
  findTemporalPrograms({ build: () => Promise.reject(new Error('not here')) }),
  findPostgres({ canInstall: () => false }),
]).then(
  () => true,
  () => false,
);
const canRun = hasEngines && process.platform === 'linux';

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
