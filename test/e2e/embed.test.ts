import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sharedTemporal } from '../support/product.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let folder: string;
let redis: RedisServer;
let worker: ChildProcess | undefined;
let env: NodeJS.ProcessEnv;

/** Sets up a project that has installed the package's tarball and its dependencies. */
beforeAll(async () => {
  redis = await startRedis();
  folder = await mkdtemp(join(tmpdir(), 'helix-embed-'));
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: ROOT });
  const [tarball = ''] = await readdir(folder);
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, 'helix-temporal'), { recursive: true });
  const into = ['-C', join(modules, 'helix-temporal'), '--strip-components=1'];
  await run('tar', ['-xzf', join(folder, tarball), ...into]);
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (!name.startsWith('.')) {
      await symlink(join(ROOT, 'node_modules', name), join(modules, name)).catch(() => undefined);
    }
  }
  await cp(join(ROOT, 'examples/embed'), folder, { recursive: true });
  env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TEMPORAL_ADDRESS: sharedTemporal(),
    REDIS_URL: redis.url,
    TASK_QUEUE: `embed-${randomBytes(6).toString('hex')}`,
  };
});

afterAll(async () => {
  worker?.kill('SIGTERM');
  if (worker?.exitCode === null) await once(worker, 'close');
  await redis.close();
  await rm(folder, { recursive: true, force: true });
});

it('the package, installed elsewhere, runs an agent that is asked from a program', async () => {
  worker = spawn(process.execPath, ['worker.mjs'], { cwd: folder, env, stdio: 'ignore' });
  const { stdout } = await run(process.execPath, ['ask.mjs', 'hello'], { cwd: folder, env });
  expect(stdout).toContain('hello');
  expect(stdout).toMatch(/\ncompleted\n$/);
  worker.kill('SIGTERM');
  const [code] = (await once(worker, 'close')) as [number | null];
  expect(code).toBe(0);
});
