import { get } from 'node:http';
import { charge } from '../support/lab-calls.js';
import { postJson } from '../support/post-json.js';
import { newSessionId, useProduct } from '../support/product.js';
import { scrape, type Scrape } from '../support/scrape.js';
import { postMessage } from '../support/sse-reader.js';
import { until } from '../support/until.js';
import { storedRecord } from '../support/stored-record.js';

const product = useProduct({ env: { METRICS_PORT: '0', WORKER_METRICS_PORT: '0' } });

async function portOf(role: 'api' | 'worker'): Promise<unknown> {
  const says = role === 'api' ? product.apiSays : product.workerSays;
  return (await says(role === 'api' ? 'api listens' : 'worker runs'))?.['metricsPort'];
}
const scrapeOf = async (role: 'api' | 'worker'): Promise<Scrape> => scrape(await portOf(role));

/** Plays a script of the lab agent until the reply rests. */
async function play(sessionId: string, script: object[], agent = 'lab'): Promise<void> {
  const text = JSON.stringify({ script });
  const reply = await postJson(`${product.url}/api/chat/${sessionId}?agent=${agent}`, {
    id: sessionId,
    messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text }] }],
  });
  await reply.text();
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
  it.each(['lab', 'lab-leg'])(
    'a run of %s counts what its record counts, once',
    async (agent) => {
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
      expect(by('gen_ai_execute_tool_duration_seconds_count', { gen_ai_tool_name: 'echo' })).toBe(
        1,
      );
      // A failed try counts as a model call, too.
      const ofAgent = { gen_ai_agent_name: agent };
      expect(by('gen_ai_invoke_agent_inference_calls_total', ofAgent)).toBe(3);
      expect(by('gen_ai_invoke_agent_tool_calls_total', ofAgent)).toBe(1);
      expect(after.names).toContain('gen_ai_client_inference_time_to_first_chunk_seconds_bucket');
      expect(after.names).toContain('temporal_activity_schedule_to_start_latency_bucket');
    },
    60_000,
  );

  it('the number of series does not grow with conversations, nor by names that a model invents', async () => {
    const converse = (): Promise<void> => {
      const invented = { tool: `invented-${newSessionId()}`, id: 'x1', args: {} };
      const known = { tool: 'echo', id: 't1', args: { value: 'x' } };
      return play(newSessionId(), [{ calls: [known, invented] }, { say: 'ok' }], 'lab-leg');
    };
    for (let n = 0; n < 3; n += 1) await converse();
    const before = await scrapeOf('worker');
    for (let n = 0; n < 5; n += 1) await converse();
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

it('a question is counted from when it is asked until it is answered', async () => {
  const before = await legs();
  const sessionId = newSessionId();
  const text = JSON.stringify({ script: [{ calls: [charge('c1')] }, { say: 'done' }] });
  await (
    await postMessage(product.url, sessionId, { id: 'u1', text })
  ).done;
  // The leg ends when its run asks people.
  await until('the first leg is counted', async () => (await legs()) === before + 1);
  const waiting = await scrapeOf('api');
  expect(waiting.sum('helix_waiting_conversations')).toBe(1);
  expect(waiting.sum('helix_oldest_wait_seconds')).toBeGreaterThan(0);
  const url = `${product.url}/api/chat/${sessionId}/pending/c1`;
  const answer = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const body = JSON.stringify({ approved: true });
  const statuses = [await fetch(url, { ...answer, body }), await fetch(url, { ...answer, body })];
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
}, 60_000);
