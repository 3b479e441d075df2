import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findPrometheus } from '../../scripts/engines/prometheus.mjs';
import { freeLoopbackAddress } from '../../extensions/metrics/exporter.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { AgentState } from '../../protocol/run.js';
import { QUERIES, SIGNALS } from '../../protocol/temporal.js';
import { charge } from '../support/lab-calls.js';
import { postJson } from '../support/post-json.js';
import { newSessionId, openTemporal, useProduct } from '../support/product.js';
import { scrape, type Scrape } from '../support/scrape.js';
import { postMessage } from '../support/sse-reader.js';
import { storedRecord } from '../support/stored-record.js';
import { until } from '../support/until.js';
import { metricsIn, readPanels, readRules } from './read-ops.js';

const run = promisify(execFile);
const OPS = fileURLToPath(new URL('../../ops/prometheus', import.meta.url));

const programs = await findPrometheus();
// On Debian-like systems Prometheus can be installed, so its absence is a failure there.
const canHave = programs !== undefined || existsSync('/usr/bin/apt-get');
const describeIf = canHave ? describe : describe.skip;
if (!canHave) process.stderr.write('NOT CHECKED: alerts, since there is no Prometheus here.\n');

/** Paths of the notices received. */
const taken: string[] = [];
const receiver = createServer((request, response) => {
  request.resume().once('end', () => {
    taken.push(request.url ?? '');
    response.end();
  });
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const { port } = receiver.address() as AddressInfo;
const hook = `http://127.0.0.1:${String(port)}/hook`;
const receivers = [{ name: 'desk', kind: 'slack', url: hook, privateNetwork: true }];
afterAll(() => {
  receiver.close();
});

const product = useProduct({
  env: {
    METRICS_PORT: '0',
    WORKER_METRICS_PORT: '0',
    NOTIFY_RECEIVERS: JSON.stringify(receivers),
  },
});

async function portOf(role: 'api' | 'worker'): Promise<unknown> {
  const says = role === 'api' ? product.apiSays : product.workerSays;
  return (await says(role === 'api' ? 'api listens' : 'worker runs'))?.['metricsPort'];
}
const scrapeOf = async (role: 'api' | 'worker'): Promise<Scrape> => scrape(await portOf(role));

/** Plays a script of the lab agent until the reply rests. */
async function play(sessionId: string, script: object[], agent = 'lab'): Promise<void> {
  const message = { id: 'u1', text: JSON.stringify({ script }) };
  const reader = await postMessage(product.url, sessionId, message, {}, agent);
  await reader.done;
}

/** Reads the newest run's usage from the session's record. */
async function usageOf(sessionId: string): Promise<[input: number, output: number]> {
  const [input = 0, output = 0] = (await storedRecord(product.redis, sessionId))?.run.usage ?? [];
  return [input, output];
}

const TOKENS = ['input', 'output'].map(
  (side) => `gen_ai_client_inference_usage_${side}_tokens_total`,
);
const tokensIn = (scraped: Scrape): number[] => TOKENS.map((name) => scraped.sum(name) ?? 0);

/** Requests `/metrics` with this Host header and returns the status. */
function statusFor(port: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/metrics', headers: { host } };
    get(options, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });
}

describe('metrics of a worker', () => {
  it.each(['lab', 'lab-leg'])('a run of %s counts what its record counts, once', async (agent) => {
    const before = await scrapeOf('worker');
    const sessionId = newSessionId();
    await play(
      sessionId,
      [
        {
          say: 'one',
          calls: [{ tool: 'echo', id: 'c1', args: { value: 'x' } }],
          fail: { status: 500, times: 1 },
        },
        { say: 'two' },
      ],
      agent,
    );
    const used = await usageOf(sessionId);
    expect(used[0]).toBeGreaterThan(0);
    const ended = { agent, status: 'completed' };
    const after = await until('the run is counted', async () => {
      const scraped = await scrapeOf('worker');
      const runs = (of: Scrape): number => of.sum('helix_runs_ended_total', ended) ?? 0;
      const legs = scraped.sum('gen_ai_invoke_agent_duration_seconds_count', {
        gen_ai_agent_name: agent,
      });
      return runs(scraped) === runs(before) + 1 && legs !== undefined ? scraped : undefined;
    });
    const grown = tokensIn(after).map((count, side) => count - (tokensIn(before)[side] ?? 0));
    expect(grown).toEqual(used);
    const by = (name: string, labels: Record<string, string>): number =>
      (after.sum(name, labels) ?? 0) - (before.sum(name, labels) ?? 0);
    expect(by('helix_step_attempts_total', { outcome: 'committed' })).toBe(2);
    expect(by('helix_step_attempts_total', { outcome: 'discarded' })).toBe(1);
    expect(by('helix_provider_retries_total', { code: 'provider_error' })).toBe(1);
    expect(by('gen_ai_client_inference_duration_seconds_count', { error_type: '' })).toBe(2);
    expect(
      by('gen_ai_client_inference_duration_seconds_count', { error_type: 'provider_error' }),
    ).toBe(1);
    expect(by('gen_ai_execute_tool_duration_seconds_count', { gen_ai_tool_name: 'echo' })).toBe(1);
    // A failed try counts as a model call, too.
    const ofAgent = { gen_ai_agent_name: agent };
    expect(by('gen_ai_invoke_agent_inference_calls_total', ofAgent)).toBe(3);
    expect(by('gen_ai_invoke_agent_tool_calls_total', ofAgent)).toBe(1);
    expect(after.names).toContain('gen_ai_client_inference_time_to_first_chunk_seconds_bucket');
    expect(after.names).toContain('temporal_activity_schedule_to_start_latency_bucket');
  });

  it('the number of series does not grow with conversations, nor by names that a model invents', async () => {
    const converse = (): Promise<void> => {
      const invented = { tool: `invented-${newSessionId()}`, id: 'x1', args: {} };
      const known = { tool: 'echo', id: 't1', args: { value: 'x' } };
      return play(newSessionId(), [{ calls: [known, invented] }, { say: 'ok' }], 'lab-leg');
    };
    for (let n = 0; n < 2; n += 1) await converse();
    const before = await scrapeOf('worker');
    for (let n = 0; n < 3; n += 1) await converse();
    const after = await scrapeOf('worker');
    const fresh = after.series.filter((series) => !before.series.includes(series));
    // A few of Temporal's own metrics may appear late, and sweeps find what a busy machine loses.
    const isLate = (series: string): boolean => /^(temporal_|helix_sweeps_total)/.test(series);
    expect(fresh.filter((series) => !isLate(series))).toEqual([]);
    for (const scraped of [after, await scrapeOf('api')]) {
      // The test's task queue matches the same pattern.
      const named = scraped.text.replaceAll(product.taskQueue, '');
      expect(/e2e-[0-9a-f]{12}|invented-/.exec(named)?.[0]).toBeUndefined();
    }
  });

  it('it says whether it is alive and ready, on the same port', async () => {
    const port = String(await portOf('worker'));
    for (const path of ['/healthz', '/readyz']) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      expect([response.status, await response.json()]).toMatchObject([200, { status: 'ok' }]);
    }
    const foreign = await fetch(`http://127.0.0.1:${port}/api/config`);
    expect(foreign.status).toBe(404);
    // The Host header of a DNS-rebinding page.
    expect(await statusFor(port, 'evil.example')).toBe(401);
    expect(await statusFor(port, 'localhost')).toBe(200);
  });
});

/** Counts the lab agent's ended legs. */
async function legs(): Promise<number> {
  const name = 'gen_ai_invoke_agent_duration_seconds_count';
  return (await scrapeOf('worker')).sum(name, { gen_ai_agent_name: 'lab' }) ?? 0;
}

/** Wakes a run that waits until its history is so long that it continues as new, and waits again. */
async function continueAsNew(sessionId: string): Promise<void> {
  const { workflow } = openTemporal();
  const { run: asking } = (await storedRecord(product.redis, sessionId)) ?? {};
  const handle = workflow.getHandle(workflowIdOf(asking?.id ?? ''));
  const { runId: first } = await handle.describe();
  await until('the run continues as new', async () => {
    await Promise.all(Array.from({ length: 20 }, () => handle.signal(SIGNALS.look)));
    return (await handle.describe()).runId !== first;
  });
  await until('it waits again', async () => {
    const { phase } = await handle.query<AgentState>(QUERIES.agentState);
    return phase === 'waiting';
  });
}

it('a question is counted from when it is asked until it is answered', async () => {
  const before = await legs();
  const sessionId = newSessionId();
  await play(sessionId, [{ calls: [charge('c1')] }, { say: 'done' }]);
  // The leg ends when its run asks people.
  await until('the first leg is counted', async () => (await legs()) === before + 1);
  await continueAsNew(sessionId);
  expect(await legs()).toBe(before + 1);
  const waiting = await scrapeOf('api');
  expect(waiting.sum('helix_waiting_conversations')).toBe(1);
  expect(waiting.sum('helix_oldest_wait_seconds')).toBeGreaterThan(0);
  const url = `${product.url}/api/chat/${sessionId}/pending/c1`;
  const statuses = [
    await postJson(url, { approved: true }),
    await postJson(url, { approved: true }),
  ];
  expect(statuses.map(({ status }) => status)).toEqual([202, 409]);
  const after = await scrapeOf('api');
  const approved = { decision: 'approved' };
  expect(after.sum('helix_answers_total', approved)).toBe(1);
  expect(after.sum('helix_wait_duration_seconds_count', { ...approved, kind: 'approval' })).toBe(1);
  await until('the second leg is counted', async () => (await legs()) === before + 2);
  await until('nothing waits', async () => {
    const scraped = await scrapeOf('api');
    return scraped.sum('helix_oldest_wait_seconds') === 0;
  });
});

describeIf('promtool', () => {
  it.each([
    ['check', 'rules', 'rules.yml'],
    ['check', 'config', 'prometheus.yml'],
    ['test', 'rules', 'rules.test.yml'],
  ])('%s %s %s', async (...args) => {
    await run(programs?.promtool ?? '', args, { cwd: OPS });
  });
});

describeIf('a Prometheus that scrapes real processes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'helix-prometheus-'));
  let address = '';
  let server: ChildProcess | undefined;

  /** Returns the samples of an expression. @throws Error if the expression does not parse */
  async function query(expr: string): Promise<unknown[]> {
    const url = `http://${address}/api/v1/query?query=${encodeURIComponent(expr)}`;
    const reply = (await (await fetch(url)).json()) as {
      status: string;
      error?: string;
      data?: { result: unknown[] };
    };
    if (reply.status !== 'success') throw new Error(`${expr}: ${reply.error ?? ''}`);
    return reply.data?.result ?? [];
  }

  /** Makes everything that the dashboard shows happen once. */
  async function happen(): Promise<void> {
    const { url } = product;
    const script = [
      {
        calls: [
          { tool: 'echo', id: 'c1', args: { value: 1 } },
          { tool: 'boom', id: 'c2', args: {} },
        ],
        fail: { status: 500, times: 1 },
      },
      { calls: [charge('c3')] },
      { say: 'done' },
    ];
    const sessionId = newSessionId();
    await play(sessionId, script);
    await until('people are notified', () => Promise.resolve(taken.length > 0));
    await postJson(`${url}/api/chat/${sessionId}/pending/c3`, { approved: true });
    await fetch(`${url}/api/chat/${newSessionId()}/snapshot`);
  }

  beforeAll(async () => {
    address = await freeLoopbackAddress();
    const ports = [await portOf('api'), await portOf('worker')];
    const [api, worker] = ports.map((port) => `127.0.0.1:${String(port)}`);
    writeFileSync(
      join(folder, 'prometheus.yml'),
      JSON.stringify({
        global: { scrape_interval: '1s', evaluation_interval: '1s' },
        rule_files: [join(OPS, 'rules.yml')],
        scrape_configs: [
          { job_name: 'helix-api', static_configs: [{ targets: [api] }] },
          { job_name: 'helix-worker', static_configs: [{ targets: [worker] }] },
        ],
      }),
    );
    server = spawn(
      programs?.prometheus ?? '',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=${address}`,
      ],
      { stdio: 'ignore' },
    );
    await until('Prometheus is ready', async () => {
      const reply = await fetch(`http://${address}/-/ready`).catch(() => undefined);
      return reply?.status === 200;
    });
    await happen();
  });
  afterAll(async () => {
    const ended = new Promise((resolve) => server?.once('close', resolve));
    server?.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });

  it('every expression parses, and reads metrics that there are', async () => {
    const exprs = [...readRules(), ...readPanels()].map(({ expr }) => expr);
    const read = new Set(exprs.flatMap((expr) => metricsIn(expr)));
    const recorded = new Set(readRules().map(({ name }) => name));
    let missing: string[] = [];
    const look = async (): Promise<boolean> => {
      const reply = await fetch(`http://${address}/api/v1/label/__name__/values`);
      const { data } = (await reply.json()) as { data: string[] };
      const seen = new Set([...data, ...recorded]);
      missing = [...read].filter((name) => !seen.has(name));
      return missing.length === 0;
    };
    await until('everything is scraped', look).catch(() => undefined);
    expect(missing).toEqual([]);
    for (const expr of exprs) await query(expr);
  });

  it('a worker that is killed makes its alert true', async () => {
    const { expr = '' } = readRules().find(({ name }) => name === 'HelixNoWorker') ?? {};
    await until('the worker is scraped', async () => (await query(expr)).length === 0);
    await product.kill9Worker();
    await until('the alert is true', async () => (await query(expr)).length === 1);
    const pending = 'ALERTS{alertname="HelixNoWorker"}';
    await until('Prometheus has it as an alert', async () => (await query(pending)).length === 1);
  });
});
