import { spawn } from 'node:child_process';
import { projectRoot } from '../../scripts/system/project.mjs';

/** Plays a script with faults of each kind planted: its verdict counts them all, and so says its exit code. */
export async function expectFaultsNoticed(script, options) {
  const child = spawn(process.execPath, [script, ...options, '--plant', 'all'], {
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
}
