import type { Verdict } from '../../cli/doctor/verdict.js';
import { runCommand } from '../support/command-line.js';
import { sharedTemporal, useProduct } from '../support/product.js';
import { createRedisUser } from '../support/redis-user.js';

const product = useProduct();

/** Settings under which the doctor finds no fault. */
const settings = (): Record<string, string> => ({
  REDIS_URL: product.redisServer.url,
  TEMPORAL_ADDRESS: sharedTemporal(),
  TASK_QUEUE: product.taskQueue,
  HELIX_URL: product.url,
});

async function examine(env: Record<string, string> = {}) {
  const { code, stdout } = await runCommand(['doctor', '-o', 'json'], {
    env: { ...settings(), ...env },
  });
  const { verdict, checks } = JSON.parse(stdout) as { verdict: string; checks: Verdict[] };
  return { code, verdict, faults: checks.filter(({ level }) => level === 'fail'), checks };
}

/** Expects exit code 1 and only this fault. */
async function expectFault(env: Record<string, string>, fault: object): Promise<void> {
  expect(await examine(env)).toMatchObject({ code: 1, verdict: 'fail', faults: [fault] });
}

const naming = (text: string): string => expect.stringContaining(text) as unknown as string;

describe('helix-temporal doctor', () => {
  it('doctor finds nothing wrong with engines, workers and an API that are well', async () => {
    const { code, verdict, faults, checks } = await examine();
    expect({ code, verdict, faults }).toEqual({ code: 0, verdict: 'ok', faults: [] });
    expect(checks.map(({ check }) => check)).toEqual([
      'node',
      'redis',
      'redis persistence',
      'redis memory',
      'redis rights',
      'temporal',
      'temporal namespace',
      'search attributes',
      'workers',
      'codec keys',
      'clocks',
      'model',
      'api',
    ]);
    expect(checks.find(({ check }) => check === 'clocks')?.finding).toBe(
      'This machine, Redis and Temporal agree.',
    );
  });

  it('doctor names a namespace that does not exist', async () => {
    const env = { TEMPORAL_NAMESPACE: 'nowhere' };
    await expectFault(env, { check: 'temporal namespace', fix: naming('TEMPORAL_NAMESPACE') });
  });

  it('doctor names a task queue without workers, unless they are not expected yet', async () => {
    const env = { TASK_QUEUE: 'lonely' };
    await expectFault(env, { check: 'workers', finding: naming('"lonely"') });
    const args = ['doctor', '--engines-only'];
    const { code, stdout } = await runCommand(args, { env: { ...settings(), ...env } });
    expect(code).toBe(0);
    expect(stdout).not.toContain('workers');
    expect(stdout).not.toMatch(/^\S api /m);
  });

  it('doctor names a command that the user of Redis may not use', async () => {
    const user = await createRedisUser(product.redis, 'hx', '-xdel');
    const fault = { check: 'redis rights', finding: naming('XDEL'), fix: naming('ACL SETUSER') };
    await expectFault({ REDIS_URL: user.url }, fault);
    await user.change('+xdel');
    expect((await examine({ REDIS_URL: user.url })).faults).toEqual([]);
  });

  it('doctor names the settings of a Redis that evicts, or keeps no append-only file', async () => {
    await product.redis.config('SET', 'maxmemory-policy', 'allkeys-lru', 'appendonly', 'no');
    try {
      const { code, faults } = await examine();
      expect(code).toBe(1);
      expect(faults).toMatchObject([
        { check: 'redis persistence', fix: naming('appendonly yes') },
        { check: 'redis memory', fix: naming('maxmemory-policy noeviction') },
      ]);
    } finally {
      await product.redis.config('SET', 'maxmemory-policy', 'noeviction', 'appendonly', 'yes');
    }
  });

  it('doctor names the machine whose clock is a minute ahead', async () => {
    const ahead = 'const now = Date.now; Date.now = () => now() + 60_000;';
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(ahead)}`;
    await expectFault({ NODE_OPTIONS }, { check: 'clocks', fix: naming('on this machine.') });
  });

  it('doctor names a setting that is wrong, and one that the model needs', async () => {
    await expectFault(
      { SESSION_TTL: 'soon' },
      { check: 'settings', finding: naming('SESSION_TTL') },
    );
    await expectFault(
      { MODEL: 'openai:gpt-5' },
      { check: 'model', finding: naming('OPENAI_API_KEY') },
    );
  });

  it('doctor only warns of an API that does not run', async () => {
    const { code, checks } = await examine({ HELIX_URL: 'http://127.0.0.1:9' });
    expect(code).toBe(0);
    expect(checks.at(-1)).toMatchObject({ check: 'api', level: 'warn' });
  });
});
