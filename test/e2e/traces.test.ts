import type { OperatorRunDetail } from '../../protocol/operator.js';
import { LAB_AGENTS } from '../support/lab-agents.js';
import { charge, delegate } from '../support/lab-calls.js';
import { readOperator } from '../support/lab-run.js';
import { newSessionId, openTemporal, startProduct, type Product } from '../support/product.js';
import {
  startSpanReceiver,
  type ReceivedSpan,
  type SpanReceiver,
} from '../support/span-receiver.js';
import { postMessage, readSse, type SseReader } from '../support/sse-reader.js';
import { until } from '../support/until.js';
import { createFleet, type FleetWorker, type WorkerFleet } from '../support/worker-fleet.js';
import { storedRecord } from '../support/stored-record.js';

const CANARY = 'canary-7f3a';
/** Longer than any other span of the test, ms. */
const THINK_MS = 1_500;
const REQUEST = '0af7651916cd43dd8448eb211c80319c';
const ANSWER = '1bf7651916cd43dd8448eb211c80319d';
const traceparent = (traceId: string): string => `00-${traceId}-b7ad6b7169203331-01`;

let receiver: SpanReceiver;
let product: Product;
/** A worker that survives a test serves the next one. */
let fleet: WorkerFleet;
const temporal = openTemporal();
beforeAll(async () => {
  receiver = await startSpanReceiver();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    TRACE_URL_TEMPLATE: 'https://traces.example/{traceId}',
  };
  product = await startProduct({ env, worker: false });
  fleet = createFleet(product, {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_METRIC_EXPORT_INTERVAL: '200',
  });
});
afterAll(async () => {
  await fleet.stop();
  await product.stop();
  await receiver.close();
});

async function oneWorker(): Promise<FleetWorker> {
  const [worker = await fleet.start()] = await fleet.upTo(1);
  return worker;
}

async function post(
  sessionId: string,
  script: object[],
  headers: Record<string, string> = {},
  agent = 'lab',
): Promise<SseReader> {
  return postMessage(
    product.url,
    sessionId,
    { id: 'u1', text: JSON.stringify({ script }) },
    headers,
    agent,
  );
}

async function approve(sessionId: string, toolCallId: string): Promise<void> {
  const response = await fetch(`${product.url}/api/chat/${sessionId}/pending/${toolCallId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent: traceparent(ANSWER) },
    body: JSON.stringify({ approved: true }),
  });
  expect(response.status).toBe(202);
}

const spansOf = (sessionId: string): ReceivedSpan[] =>
  receiver.spans.filter(({ attributes }) => attributes['gen_ai.conversation.id'] === sessionId);

const statusOf = async (sessionId: string): Promise<string | undefined> =>
  (await storedRecord(product.redis, sessionId))?.run.status;

async function untilTraced(sessionId: string, status: string): Promise<ReceivedSpan[]> {
  await until('the end of the run is traced', () =>
    spansOf(sessionId).some(
      ({ attributes, parentSpanId }) =>
        parentSpanId === '' && attributes['helix.run.status'] === status,
    ),
  );
  return spansOf(sessionId);
}

const sum = (spans: readonly ReceivedSpan[], name: string): number =>
  spans.reduce((total, { attributes }) => total + Number(attributes[name] ?? 0), 0);

function expectWhole(spans: readonly ReceivedSpan[]): void {
  const ids = new Set(spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
  // No span appears twice, and every parent is present.
  expect(ids.size).toBe(spans.length);
  const orphans = spans.filter(
    ({ traceId, parentSpanId }) => parentSpanId !== '' && !ids.has(`${traceId} ${parentSpanId}`),
  );
  expect(orphans.map(({ name, traceId }) => `${name} ${traceId}`)).toEqual([]);
  for (const { attributes } of spans) {
    expect(attributes).toMatchObject({
      'gen_ai.operation.name': expect.any(String),
      'gen_ai.agent.name': expect.any(String),
      'gen_ai.conversation.id': expect.any(String),
    });
  }
}

/** Expects the spans' usage to equal the record's, sub-agents included. */
async function expectUsageOf(sessionId: string, spans: readonly ReceivedSpan[]): Promise<void> {
  const [input, output] = (await storedRecord(product.redis, sessionId))?.run.usage ?? [];
  expect(output).toBeGreaterThan(0);
  for (const group of [
    spans.filter(({ name }) => name.startsWith('chat ')),
    spans.filter(({ name, parentSpanId }) => parentSpanId === '' && name.startsWith('invoke')),
  ]) {
    expect(sum(group, 'gen_ai.usage.input_tokens')).toBe(input);
    expect(sum(group, 'gen_ai.usage.output_tokens')).toBe(output);
  }
}

describe('traces', () => {
  interface Killed {
    sessionId: string;
    askedAt: number;
    answeredAt: number;
  }
  const killed = new Map<string, Killed>();
  // One kill hits the runs of both shapes.
  beforeAll(async () => {
    const first = await oneWorker();
    await Promise.all(
      LAB_AGENTS.map(async (agent) => {
        killed.set(agent, await speakAfterApproval(agent));
      }),
    );
    await first.kill9();
    await fleet.start({ ENDED_LEASE_ID: first.id });
    for (const { sessionId } of killed.values())
      await until('the run ends', async () => (await statusOf(sessionId)) === 'completed');
  });

  /** Begins a run with a tool and an approval, and has it speak on afterwards. */
  async function speakAfterApproval(agent: string): Promise<Killed> {
    const sessionId = newSessionId();
    const script = [
      {
        say: `Let me see, ${CANARY}.`,
        calls: [{ tool: 'echo', id: 'e1', args: { value: CANARY } }, charge('c1', 5)],
      },
      {
        say: 'second attempt',
        attempts: [{ say: 'the first attempt '.repeat(20), deltas: 100, everyMs: 400 }, {}],
      },
    ];
    const reader = await post(sessionId, script, { traceparent: traceparent(REQUEST) }, agent);
    await reader.done;
    await until('it waits', async () => (await statusOf(sessionId)) === 'waiting_approval');
    const askedAt = Date.now();
    await until('its leg is traced', () =>
      spansOf(sessionId).some(({ name }) => name === `invoke_agent ${agent}`),
    );
    await new Promise((resolve) => setTimeout(resolve, THINK_MS));
    const answeredAt = Date.now();
    await approve(sessionId, 'c1');
    const follower = await readSse(`${product.url}/api/chat/${sessionId}/stream`);
    await until('the first attempt speaks', () => follower.text().includes('the first attempt'));
    return { sessionId, askedAt, answeredAt };
  }

  it.each(LAB_AGENTS)(
    'a run of %s with a tool, an approval and a killed worker is one trace per leg',
    async (agent) => {
      const { sessionId = '', askedAt = 0, answeredAt = 0 } = killed.get(agent) ?? {};
      const spans = await untilTraced(sessionId, 'completed');
      expectWhole(spans);
      const legs = spans
        .filter(({ name }) => name === `invoke_agent ${agent}`)
        .sort((a, b) => a.start - b.start);
      expect(legs).toHaveLength(2);
      const [one, two] = legs as [ReceivedSpan, ReceivedSpan];
      expect(one.traceId).not.toBe(two.traceId);
      expect(one.links).toMatchObject([{ traceId: REQUEST }]);
      expect(two.links).toMatchObject([
        { traceId: one.traceId, spanId: one.spanId },
        { traceId: ANSWER },
      ]);
      expect(one.attributes['helix.run.status']).toBe('waiting_approval');
      // Only the wait's span is open while people think.
      const [wait] = spans.filter(({ name }) => name === 'helix.wait charge');
      expect(wait?.traceId).toBe(one.traceId);
      expect(wait?.attributes).toMatchObject({
        'helix.approval.decision': 'approved',
        'helix.approval.edited': false,
        'helix.approval.via': 'api',
      });
      expect((wait?.end ?? 0) - (wait?.start ?? 0)).toBeGreaterThan(THINK_MS - 500);
      const open = spans.filter(
        ({ start, end }) => start < askedAt + 500 && end > answeredAt - 500,
      );
      expect(open.map(({ name }) => name)).toEqual(['helix.wait charge']);
      // Each ended attempt has a span, and so has the killed one.
      const chats = spans.filter(({ name }) => name.startsWith('chat '));
      expect(chats.map(({ attributes }) => attributes['helix.step']).sort()).toEqual([1, 2, 2]);
      expect(chats.filter(({ isError }) => isError)).toMatchObject([
        { attributes: { 'error.type': 'attempt_lost', 'helix.usage.estimated': true } },
      ]);
      expect(spans.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['execute_tool echo', 'execute_tool charge']),
      );
      await expectUsageOf(sessionId, spans);
      expect(receiver.body()).not.toContain(CANARY);
      // The workflow's result names the first trace.
      const workflowId = String(one.attributes['temporalWorkflowId']);
      const result: unknown = await temporal.workflow.getHandle(workflowId).result();
      expect(result).toMatchObject({ trace: `https://traces.example/${one.traceId}` });
      const path = `runs/${encodeURIComponent(workflowId.slice('run:'.length))}`;
      const { traceUrl } = await readOperator<OperatorRunDetail>(product, path);
      expect(traceUrl).toBe(`https://traces.example/${one.traceId}`);
    },
  );

  it("a sub-agent's part in each leg stands below the call that delegates to it", async () => {
    await oneWorker();
    const sessionId = newSessionId();
    const reader = await post(sessionId, [
      {
        calls: [
          delegate('d1', { say: 'I look.', calls: [charge('c1', 1)] }, { say: 'one' }),
          { tool: 'echo', id: 'e1', args: { value: 1 } },
        ],
      },
    ]);
    await reader.done;
    await until('it waits', async () => ((await statusOf(sessionId)) ?? '').startsWith('waiting'));
    await approve(sessionId, 'c1');
    await until('the run ends', async () => (await statusOf(sessionId)) === 'completed');
    const spans = await untilTraced(sessionId, 'completed');
    expectWhole(spans);
    const children = spans.filter(({ name }) => name === 'invoke_agent lab-child');
    expect(new Set(children.map(({ traceId }) => traceId)).size).toBe(2);
    for (const { traceId, parentSpanId } of children) {
      const call = spans.find((span) => span.traceId === traceId && span.spanId === parentSpanId);
      expect(call?.name).toBe('execute_tool delegate');
      const above = spans.find(
        (span) => span.traceId === traceId && span.spanId === call?.parentSpanId,
      );
      expect(above?.name).toBe('invoke_agent lab');
    }
    await expectUsageOf(sessionId, spans);
  });

  it('a log line of an activity names the trace of its leg', async () => {
    const worker = await oneWorker();
    const sessionId = newSessionId();
    await (
      await post(sessionId, [{ calls: [{ tool: 'boom', id: 'b1', args: { message: 'no' } }] }])
    ).done;
    const spans = await untilTraced(sessionId, 'completed');
    const line = await worker.says('tool failed');
    expect(line['trace_id']).toBe(spans[0]?.traceId);
    // The collector gets its metrics as well, including the SDK's.
    const metrics = ['gen_ai.client.inference.usage.output_tokens', 'temporal_workflow_completed'];
    await until('metrics', () => metrics.every((name) => receiver.metrics().includes(name)));
  });
});
