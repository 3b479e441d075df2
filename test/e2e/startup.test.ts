import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import type { Times } from '../../protocol/limits.js';
import { listen } from '../support/listen.js';
import { SECRET } from '../support/people.js';
import { startProcess } from '../support/process.js';
import { sharedTemporal } from '../support/product.js';
import { openTestStores, sharedRedisUrl } from '../support/test-stores.js';

/** A port on which nothing listens. */
const NOWHERE = 1;
const ROLES = ['api', 'worker'] as const;
const HELIX_TIMES = JSON.stringify({ serverMs: 2_000 } satisfies Partial<Times>);

interface Case {
  server: string;
  port: number;
  env: Record<string, string>;
}

interface Ending {
  code: number | null;
  output: string;
}

/** Runs the process until it exits. */
async function runProcess(
  role: (typeof ROLES)[number],
  env: Record<string, string>,
): Promise<Ending> {
  const started = startProcess(role, env);
  const code = await started.exitCode;
  return { code, output: started.log() };
}

function expectSentence({ code, output }: Ending, words: string[]): void {
  expect(code).toBe(1);
  for (const word of words) expect(output).toContain(word);
  expect(output).not.toMatch(/^\s+at /m);
}

const settings = (): Record<string, string> => ({
  PORT: '0',
  REDIS_URL: sharedRedisUrl(),
  TEMPORAL_ADDRESS: sharedTemporal(),
  HELIX_ALLOW_UNAUTHENTICATED: '1',
});

it.concurrent.each(ROLES)('the %s names a file of REDIS_URL that it cannot read', async (role) => {
  const ending = await runProcess(role, { ...settings(), REDIS_URL: 'rediss://127.0.0.1:1?ca=/' });
  expectSentence(ending, ['file ca of REDIS_URL']);
});

// The processes mostly wait for servers, so they start side by side.
it.concurrent.each(ROLES)('the %s names the server, and ends', async (role) => {
  const { port: silentPort } = await listen(createServer());
  // One server refuses connections and the other never answers; the roles swap them.
  const [redis, temporal] = role === 'api' ? [NOWHERE, silentPort] : [silentPort, NOWHERE];
  const cases: Case[] = [
    { server: 'Redis', port: redis, env: { REDIS_URL: `redis://127.0.0.1:${String(redis)}` } },
    {
      server: 'Temporal',
      port: temporal,
      env: { TEMPORAL_ADDRESS: `127.0.0.1:${String(temporal)}` },
    },
  ];
  await Promise.all(
    cases.map(async ({ server, port, env }) => {
      const ending = await runProcess(role, { ...settings(), ...env, HELIX_TIMES });
      const setting = Object.keys(env)[0] ?? '';
      expectSentence(ending, [`${server} at`, `127.0.0.1:${String(port)}`, setting]);
    }),
  );
});

it.concurrent(
  'a default agent that is not served, as the lab with accounts, is named',
  async () => {
    const env = { ...settings(), JWT_SECRET: SECRET, DEFAULT_AGENT: 'lab' };
    const ending = await runProcess('api', env);
    expectSentence(ending, ['DEFAULT_AGENT']);
    expect(ending.output.trim().split('\n')).toHaveLength(2);
  },
);

it.concurrent('a worker that cannot start leaves no lease behind', async () => {
  const port = String((await listen(createServer())).port);
  const LEASE_ID = randomUUID();
  const env = { ...settings(), LEASE_ID, WORKER_METRICS_PORT: port };
  expectSentence(await runProcess('worker', env), [port]);
  const { leases } = (await openTestStores()).store;
  const holders = (await leases?.of('default').holders()) ?? [];
  expect(holders.filter((holder) => holder.startsWith(LEASE_ID))).toEqual([]);
});

it.concurrent('a worker with LAB=0 does not carry out the lab agent', async () => {
  const TASK_QUEUE = `no-lab-${randomUUID()}`;
  const worker = startProcess('worker', { ...settings(), TASK_QUEUE, LAB: '0' });
  expect((await worker.says('worker runs'))['agents']).not.toContain('lab');
  await worker.kill9();
});
