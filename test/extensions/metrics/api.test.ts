import { createServer } from 'node:http';
import { createMetricsApp } from '../../../api/index.js';
import { createApiMetrics } from '../../../extensions/metrics/index.js';
import { listen } from '../../support/listen.js';
import { connectRaw } from '../../support/raw-http.js';
import { turnOf } from '../../support/played-turn.js';
import { AGENT, drive, newCall } from '../../support/session-driver.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { until } from '../../support/until.js';
import { greets, readUser, say, startApi, type ApiServer } from '../../api/api-server.js';

/** Reads a sample by its name with labels; undefined if absent. */
async function read(server: ApiServer, sample: string): Promise<number | undefined> {
  const text = await (await server.get('/metrics')).text();
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length + 1));
}

describe('/metrics', () => {
  it('requests are counted by route pattern, and so are runs, refusals and streams', async () => {
    const server = await startApi({ defaultAgent: 'lab' });
    const posted = await server.post('/api/chat/s1', { messages: [say('u1', 'hi')] });
    await until('the stream is open', async () => (await read(server, 'helix_open_streams')) === 1);
    expect(await read(server, 'helix_runs_begun_total{agent="lab"}')).toBe(1);
    await greets(await turnOf(server.stores, 's1'), 's1');
    const text = await posted.text();
    await until(
      'the stream has ended',
      async () => (await read(server, 'helix_open_streams')) === 0,
    );
    expect(await read(server, 'helix_stream_characters_total')).toBe(text.length);
    expect((await server.post('/api/chat/s1/retry', {})).status).toBe(202);
    expect(await read(server, 'helix_runs_begun_total{agent="lab"}')).toBe(2);
    expect(await read(server, 'helix_stream_writes_total')).toBeGreaterThan(0);
    const route = 'method="POST",route="/api/chat/:sessionId"';
    expect(await read(server, `helix_http_requests_total{${route},status="200"}`)).toBe(1);
    expect(
      await read(server, 'helix_stream_duration_seconds_count{route="/api/chat/:sessionId"}'),
    ).toBe(1);

    await (await server.get('/api/chat/s1/snapshot')).text();
    await (await server.get('/api/chat/secret-name/snapshot')).text();
    await (await server.get('/api/nowhere/secret-name')).text();
    await (await server.get('/api/sessions?limit=x')).text();
    const snapshot = 'method="GET",route="/api/chat/:sessionId/snapshot"';
    await until(
      'everything is counted',
      async () => (await read(server, 'helix_refusals_total{code="validation_error"}')) === 1,
    );
    expect(await read(server, `helix_http_requests_total{${snapshot},status="200"}`)).toBe(1);
    expect(await read(server, `helix_http_requests_total{${snapshot},status="404"}`)).toBe(1);
    expect(
      await read(server, 'helix_http_requests_total{method="GET",route="none",status="404"}'),
    ).toBe(1);
    expect(
      await read(
        server,
        'helix_http_requests_total{method="GET",route="/api/sessions",status="400"}',
      ),
    ).toBe(1);
    expect(await read(server, 'helix_refusals_total{code="not_found"}')).toBe(2);
    const all = await (await server.get('/metrics')).text();
    expect(all).not.toMatch(/secret-name|s1|u1/);
    expect(all).toContain('helix_http_request_duration_seconds_bucket');
  });

  it('/metrics is not served on the public port if it has a port of its own', async () => {
    const api = await startApi({ publicMetrics: false });
    expect((await api.get('/metrics')).status).toBe(404);
  });

  it.each([
    ['a stranger', {}, 401],
    ['a user', { 'x-user': 'ann' }, 403],
    ['an operator of a tenant', { 'x-user': 'ann@acme@operator' }, 403],
    ['a viewer of all', { 'x-user': 'ann@@viewer' }, 200],
  ] as [string, Record<string, string>, number][])(
    '/metrics on the public port answers %s %j with %d where people sign in',
    async (_who, headers, status) => {
      const accounts = { allowUnauthenticated: false, authenticate: readUser };
      const api = await startApi(accounts);
      const response = await api.get('/metrics', headers);
      expect(response.status).toBe(status);
      expect(response.headers.get('cache-control')).toBe('no-store');
    },
  );

  it.each([
    ['evil.test', ['chat.test'], 401],
    ['chat.test', ['Chat.Test'], 200],
    ['metrics.test', undefined, 200],
  ])(
    '/metrics for host %s on its own port with host names %j gets status %d',
    async (host, hostNames, status) => {
      const ignore = (): void => undefined;
      const logger = { info: ignore, warn: ignore, error: ignore };
      const app = createMetricsApp(createApiMetrics(), logger, { hostNames });
      const { url } = await listen(createServer(app));
      const connection = await connectRaw(url);
      connection.send(`GET /metrics HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
      expect((await connection.reply).status).toBe(status);
    },
  );

  it('the port of metrics has the answers of the public one to probes and to what goes wrong', async () => {
    const logged: unknown[] = [];
    const note = (fields: object): unknown => logged.push(fields);
    const logger = { info: note, warn: note, error: note };
    const away = new Error('away');
    const metrics = { ...createApiMetrics(), read: () => Promise.reject(away) };
    const readReadiness = () => Promise.resolve({ status: 'unavailable' as const, checks: {} });
    const open = async (...options: Parameters<typeof createMetricsApp>) =>
      (await listen(createServer(createMetricsApp(...options)))).url;
    const [alone, ready] = [
      await open(metrics, logger),
      await open(metrics, logger, { readReadiness }),
    ];
    const server = await startApi({ metrics });
    for (const [url, status] of [
      [`${server.url}/metrics`, 500],
      [`${alone}/healthz`, 200],
      [`${alone}/readyz`, 404],
      [`${ready}/readyz`, 503],
      [`${ready}/metrics`, 500],
    ] as const) {
      const response = await fetch(url);
      expect([url, response.status]).toEqual([url, status]);
      expect(response.headers.get('x-powered-by')).toBeNull();
      expect(response.headers.get('content-type')).toContain('application/json');
    }
    expect(logged).toMatchObject([{ err: away, path: '/metrics' }]);
  });

  it('refusals of limits are counted', async () => {
    const server = await startApi({ limits: { requestsPerMinute: 1 } });
    for (let n = 0; n < 3; n += 1) await server.post('/api/chat/s1/stop', {});
    expect(await read(server, 'helix_refusals_total{code="too_many_requests"}')).toBe(2);
  });

  it('an open stream is counted once, however it ends', async () => {
    const server = await startApi({ defaultAgent: 'lab', play: (turn) => turn.say('Hello.') });
    const leave = new AbortController();
    await fetch(`${server.url}/api/chat/s1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [say('u1', 'hi')] }),
      signal: leave.signal,
    });
    await until('the stream is open', async () => (await read(server, 'helix_open_streams')) === 1);
    leave.abort();
    await until(
      'the reader has left',
      async () => (await read(server, 'helix_open_streams')) === 0,
    );
  });
});

it('questions that wait are counted by agent and kind, those that are over are not', async () => {
  const { store, streamManager } = createMemoryStores();
  const session = drive({ store, stream: streamManager } as never);
  const { runId } = await session.newRun();
  await session.ask(runId, 1, [newCall('c1', 'approval'), newCall('c2', 'client')]);
  const read = (): Promise<string> =>
    createApiMetrics({ questions: store.waiting.questions }).read();
  for (const kind of ['approval', 'client']) {
    expect(await read()).toContain(`helix_waiting_calls{agent="${AGENT}",kind="${kind}"} 1\n`);
  }
  await session.decide(runId, 'c1', true);
  expect(await read()).not.toContain('kind="approval"');
  expect(await read()).toContain('kind="client"} 1');
});

it('a count of questions that failed is repeated at the next scrape, and one that succeeded is not', async () => {
  let reads = 0;
  const questions = async () => {
    reads += 1;
    if (reads === 1) throw new Error('away');
    return [{ agent: AGENT, kind: 'client' as const, count: 2 }];
  };
  const { read } = createApiMetrics({ questions });
  expect(await read()).not.toContain('helix_waiting_calls{');
  for (let n = 0; n < 2; n += 1) {
    expect(await read()).toContain(`helix_waiting_calls{agent="${AGENT}",kind="client"} 2\n`);
  }
  expect(reads).toBe(2);
});

it('what requests do to runs is counted, and what alerts watch from zero on', async () => {
  const { runs, read } = createApiMetrics();
  const before = await read();
  for (const sample of [
    'answers_total{decision="expired",source="auto"}',
    'budgets_spent_total{of="tenant",period="month"}',
    'sweeps_total{found="give_up"}',
  ]) {
    expect(before).toContain(`helix_${sample} 0\n`);
  }
  runs({ kind: 'run_ended', agent: 'lab', status: 'failed', code: 'spent' });
  const answer = { decision: 'approved', source: 'http', waitedSeconds: 7 } as const;
  runs({ kind: 'call_answered', asked: 'approval', ...answer });
  runs({ kind: 'budget_spent', of: 'user', period: 'day' });
  runs({ kind: 'session_swept', found: 'wake' });
  const after = await read();
  for (const sample of [
    'runs_ended_total{agent="lab",status="failed",code="spent"}',
    'answers_total{decision="approved",source="http"}',
    'wait_duration_seconds_bucket{le="15",kind="approval",decision="approved"}',
    'budgets_spent_total{of="user",period="day"}',
    'sweeps_total{found="wake"}',
  ]) {
    expect(after).toContain(`helix_${sample} 1\n`);
  }
  expect(after).toContain('le="5",kind="approval",decision="approved"} 0\n');
});
