import { readFile, writeFile } from 'node:fs/promises';
import { BODIES_OF_ROUTES, HOSTILE_BODIES } from '../support/hostile-bodies.js';
import { newSessionId, useProduct } from '../support/product.js';

/** The cost of a piece of work to a process. */
interface ProcessCost {
  /** Longest block of the event loop, ms, scaled to an idle machine. */
  busyMs: number;
  /** Longest block by the wall clock, ms. */
  delayMs: number;
  /** Peak growth of memory, MB; 0 if the system does not report it. */
  grownMb: number;
}

async function measureCost(
  { port, pid }: { port: number; pid: number },
  work: () => Promise<void>,
): Promise<ProcessCost> {
  const meter = `http://127.0.0.1:${String(port)}`;
  await (await fetch(meter, { method: 'POST' })).arrayBuffer();
  await writeFile(`/proc/${String(pid)}/clear_refs`, '5').catch(() => undefined);
  const before = await readMemory(pid, 'VmRSS');
  await work();
  const { busyMs, delayMs } = (await (await fetch(meter)).json()) as Pick<
    ProcessCost,
    'busyMs' | 'delayMs'
  >;
  return { busyMs, delayMs, grownMb: (await readMemory(pid, 'VmHWM')) - before };
}

async function readMemory(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const text = await readFile(`/proc/${String(pid)}/status`, 'utf8').catch(() => '');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1_024;
}

const product = useProduct();

/** Over twice the measured cost; without the defences it is seconds to a minute, and 4 GB. */
const BUSY_MS = 400;
const GROWN_MB = 250;

/** `npm run bodies -- --all` sends all bodies, `npm test` every fifth. */
const BODIES =
  process.env['BODIES'] === 'all'
    ? [...HOSTILE_BODIES, ...BODIES_OF_ROUTES]
    : HOSTILE_BODIES.filter((_, n) => n % 5 === 0);
const ANSWERS = [200, 201, 202, 400, 404, 409, 413, 415];
const measured: string[] = [];
let port = 0;
beforeAll(async () => {
  ({ port } = (await product.apiSays('the loop is measured')) as { port: number });
});
afterAll(() => {
  if (process.env['SHOW_COSTS'] !== undefined) process.stderr.write(`${measured.join('\n')}\n`);
});

describe('a body of up to 16 MB does not block the API for others', () => {
  it.each(BODIES)('$name', async (hostile) => {
    const {
      name,
      method = 'post',
      path = '/api/chat/$',
      headers,
      body,
      statuses = ANSWERS,
    } = hostile;
    const bytes = body();
    let status = 0;
    const cost = await measureCost({ port, pid: product.apiPid }, async () => {
      const response = await fetch(product.url + path.replace('$', newSessionId()), {
        method: method.toUpperCase(),
        headers: { 'content-type': 'application/json', ...headers },
        body: bytes,
      });
      ({ status } = response);
      const text = await response.text();
      if (status >= 400) {
        const problem = JSON.parse(text) as { error: unknown };
        const isCompletion = typeof problem.error === 'object';
        expect(isCompletion ? problem.error : problem).toHaveProperty('code');
      }
      expect(text.length).toBeLessThan(100_000);
    });
    measured.push(toLine(name, bytes.length, status, cost));
    expect(statuses).toContain(status);
    expect(cost.busyMs).toBeLessThan(BUSY_MS);
    expect(cost.grownMb).toBeLessThan(GROWN_MB);
  });
});

function toLine(name: string, size: number, status: number, cost: ProcessCost): string {
  const { busyMs, delayMs, grownMb } = cost;
  const mb = (size / 1024 / 1024).toFixed(1);
  const times = `busy ${busyMs.toFixed(0)} ms, delayed ${delayMs.toFixed(0)} ms`;
  return `${name}: ${mb} MB, ${String(status)}, ${times}, grown ${grownMb.toFixed(0)} MB`;
}
