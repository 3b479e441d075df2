import { spawn } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { projectRoot } from '../../scripts/system/project.mjs';

const WITHIN_MS = 240_000;

it(
  'a soak notices a fault of each kind: its last line says so, and its exit code',
  async () => {
    const options = ['--minutes', '0.1', '--people', '4', '--plant', 'all'];
    const child = spawn(process.execPath, ['scripts/soak.mjs', ...options], {
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
