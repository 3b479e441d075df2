import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sharedTemporal } from '../support/product.js';
import { sharedRedisUrl } from '../support/test-stores.js';

const run = promisify(execFile);

it('a worker of an own program runs an agent that another program asks', async () => {
  // Here the package resolves its own name, so the programs load what people import.
  const cwd = fileURLToPath(new URL('../../examples/embed', import.meta.url));
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TEMPORAL_ADDRESS: sharedTemporal(),
    REDIS_URL: sharedRedisUrl(),
    TASK_QUEUE: `embed-${randomBytes(6).toString('hex')}`,
  };
  const worker = spawn(process.execPath, ['worker.mjs'], { cwd, env, stdio: 'ignore' });
  const ended = once(worker, 'close');
  try {
    const { stdout } = await run(process.execPath, ['ask.mjs', 'hello'], { cwd, env });
    expect(stdout).toContain('hello');
    expect(stdout).toMatch(/\ncompleted\n$/);
  } finally {
    worker.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
});
