import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findPrometheus } from '../../scripts/engines/prometheus.mjs';
import { freeLoopbackAddress } from '../../extensions/metrics/exporter.js';
import { charge } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { postMessage } from '../support/sse-reader.js';
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
  const product = useProduct({
    env: {
      METRICS_PORT: '0',
      WORKER_METRICS_PORT: '0',
      NOTIFY_RECEIVERS: JSON.stringify(receivers),
    },
  });
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
  async function play(): Promise<void> {
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
    const text = JSON.stringify({ script });
    await (
      await postMessage(url, sessionId, { id: 'u1', text })
    ).done;
    await until('people are notified', () => Promise.resolve(taken.length > 0));
    await fetch(`${url}/api/chat/${sessionId}/pending/c3`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"approved":true}',
    });
    await fetch(`${url}/api/chat/${newSessionId()}/snapshot`);
  }

  beforeAll(async () => {
    address = await freeLoopbackAddress();
    const ports = [await product.apiSays('api listens'), await product.workerSays('worker runs')];
    const [api, worker] = ports.map((line) => `127.0.0.1:${String(line?.['metricsPort'])}`);
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
    await play();
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
