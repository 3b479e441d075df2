import { context, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-node';
import type { FinishedSpan } from '../../../protocol/telemetry.js';
import {
  createTracing,
  type Tracing,
  type TracingOptions,
} from '../../../extensions/observe/index.js';

const REQUEST = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

function open(options: Partial<TracingOptions> = {}): {
  tracing: Tracing;
  read: () => ReadableSpan[];
} {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const tracing = createTracing({ spanProcessors, ...options });
  return { tracing, read: () => exporter.getFinishedSpans() };
}

const newSpan = (extra: Partial<FinishedSpan> = {}): FinishedSpan => ({
  title: 'chat m',
  id: { trace: 'r1:1', span: 'r1:1:2' },
  parent: 'r1:1',
  kind: 'client',
  startMs: 1_700_000_000_000,
  endMs: 1_700_000_000_250.5,
  attributes: { 'gen_ai.usage.cache_write.input_tokens': 3, absent: undefined },
  ...extra,
});

let registered: Tracing;
beforeAll(() => {
  registered = open().tracing;
  registered.register();
});
afterAll(() => {
  context.disable();
  trace.disable();
});

describe('a tracer', () => {
  it('work does not fail because of a sampler or a span processor', () => {
    const fail = (): never => {
      throw new Error('broken');
    };
    const rest = { forceFlush: () => Promise.resolve(), shutdown: () => Promise.resolve() };
    const processor = { ...rest, onStart: fail, onEnd: fail };
    for (const options of [{ spanProcessors: [processor] }, { sampler: { shouldSample: fail } }]) {
      const { tracer } = open(options).tracing;
      expect(tracer.within(newSpan().id, () => 'done')).toBe('done');
      tracer.write(newSpan());
    }
  });

  it('two processes give the same span the same ids', () => {
    const [one, two] = [open(), open()];
    for (const { tracing } of [one, two]) {
      tracing.tracer.write(
        newSpan({ links: [{ trace: 'r1:0', span: 'r1:0' }, REQUEST, 'nonsense'] }),
      );
    }
    const [a] = one.read();
    const [b] = two.read();
    expect(a?.spanContext()).toEqual(b?.spanContext());
    expect(a?.parentSpanContext?.traceId).toBe(a?.spanContext().traceId);
    expect(a?.links).toHaveLength(2);
    expect(a?.links[1]?.context.traceId).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(a?.attributes).toEqual({ 'gen_ai.usage.cache_creation.input_tokens': 3 });
    expect(a?.duration).toEqual([0, 250_500_000]);
  });

  it('names that are not released yet are given on demand', () => {
    const { tracing, read } = open({ latestNames: true });
    tracing.tracer.write(newSpan());
    expect(read()[0]?.attributes).toEqual({ 'gen_ai.usage.cache_write.input_tokens': 3 });
  });

  const content = (): Record<string, unknown> => ({ a: 'secret', b: ['plain'], c: undefined });

  it('content is asked for only if it is captured', () => {
    const { tracing, read } = open();
    let isAsked = false;
    tracing.tracer.write(
      newSpan({
        content: () => {
          isAsked = true;
          return content();
        },
      }),
    );
    expect(isAsked).toBe(false);
    expect(read()).toHaveLength(1);
  });

  it('content passes the hook of its owner', () => {
    const redact = (name: string, value: unknown): unknown => (name === 'a' ? undefined : value);
    const { tracing, read } = open({ captureContent: true, redact });
    tracing.tracer.write(newSpan({ attributes: {}, content }));
    expect(read()[0]?.attributes).toEqual({ b: '["plain"]' });
  });

  it('a hook that throws lets no content out', () => {
    const redact = (name: string, value: unknown): unknown => {
      if (name === 'b') throw new Error('no');
      return value;
    };
    const { tracing, read } = open({ captureContent: true, redact });
    tracing.tracer.write(newSpan({ attributes: { kept: 1 }, content }));
    expect(read()[0]?.attributes).toEqual({ kept: 1 });
  });

  it('a trace is sampled as a whole', () => {
    const { tracing, read } = open({
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.5) }),
    });
    for (let run = 0; run < 50; run += 1) {
      const traceName = `r${String(run)}:1`;
      tracing.tracer.write(newSpan({ id: { trace: traceName, span: 'a' } }));
      tracing.tracer.write(newSpan({ id: { trace: traceName, span: 'b' }, parent: undefined }));
    }
    const perTrace = new Map<string, number>();
    for (const span of read()) {
      const { traceId } = span.spanContext();
      perTrace.set(traceId, (perTrace.get(traceId) ?? 0) + 1);
    }
    expect(perTrace.size).toBeGreaterThan(5);
    expect(perTrace.size).toBeLessThan(45);
    expect(new Set(perTrace.values())).toEqual(new Set([2]));
  });

  it('log lines name the trace of the work, and of the request that is served', () => {
    const { tracer, logFields } = registered;
    expect(logFields()).toEqual({});
    const own = tracer.within({ trace: 'r1:1', span: 'r1:1' }, logFields);
    expect(own.trace_id).toMatch(/^[0-9a-f]{32}$/);
    const served = tracer.serve(REQUEST, () => ({ ...logFields(), of: tracer.request() }));
    expect(served).toEqual({
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      span_id: 'b7ad6b7169203331',
      of: REQUEST,
    });
    // Other libraries record what the sender of the request records.
    const flagsOf = () => trace.getSpanContext(context.active())?.traceFlags;
    const flags = ['01', '00', '03'].map((end) =>
      tracer.serve(REQUEST.replace(/01$/, end), flagsOf),
    );
    expect(flags).toEqual([1, 0, 1]);
    const unnamed = tracer.serve('00-bad', () => ({ ...logFields(), of: tracer.request() }));
    expect(unnamed).toMatchObject({ trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(unnamed.of).toBeUndefined();
  });

  it('a page of the trace', () => {
    const { tracing } = open({ traceUrl: 'https://t.test/{traceId}?run={runId}&s={sessionId}' });
    const url = tracing.tracer.urlOf({ trace: 'r1:1', runId: 's:1-a', sessionId: 's' });
    expect(url).toMatch(/^https:\/\/t\.test\/[0-9a-f]{32}\?run=s%3A1-a&s=s$/);
  });
});
