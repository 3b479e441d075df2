import { createHash } from 'node:crypto';
import {
  context,
  createContextKey,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Link,
  type SpanContext,
} from '@opentelemetry/api';
import {
  NodeTracerProvider,
  RandomIdGenerator,
  type NodeTracerConfig,
  type IdGenerator,
} from '@opentelemetry/sdk-trace-node';
import type { Extension } from '../../extension.js';
import type { FinishedSpan, SpanName, Tracer, SpanAttributes } from '../../protocol/telemetry.js';
import { traceRuns } from './trace-runs.js';

export interface TracingOptions extends Pick<
  NodeTracerConfig,
  'spanProcessors' | 'resource' | 'sampler'
> {
  /** True exports what people, models and tools write. Default false. */
  captureContent?: boolean;
  /** Returns the content to export in place of `value`. If it throws, the span has no content. */
  redact?: (attribute: string, value: unknown) => unknown;
  /** Address of a page with `{traceId}`, `{runId}` or `{sessionId}` in it. */
  traceUrl?: string;
  /** True uses names that the conventions have not released yet. Default false. */
  latestNames?: boolean;
}

/** An extension for `createAgentExecutor`, `createApi` and `createAgentWorker`. */
export interface Tracing extends Extension {
  tracer: Tracer;
  /** Returns the trace fields of a log line written now. */
  logFields: () => { trace_id?: string; span_id?: string };
  /** Registers the traces with OpenTelemetry's API, for other libraries too. */
  register: () => void;
  /** Exports the remaining spans and shuts down. */
  close: () => Promise<void>;
}

const SCOPE = 'helix-temporal';
/** Release of the conventions that define the names. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0';
/** Most traces whose sampling is remembered. */
const MAX_SAMPLED = 1_000;

const asItIs = (_attribute: string, value: unknown): unknown => value;

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT };
const REQUEST = createContextKey('helix-temporal request');

/**
 * Writes traces of agent runs with OpenTelemetry's SDK. Trace and span ids derive from the run's
 * id, so processes that work on a run in turn need not know of each other.
 *
 * @example
 * import { BatchSpanProcessor, ConsoleSpanExporter } from '@opentelemetry/sdk-trace-node';
 * import { createTracing } from 'helix-temporal/tracing';
 *
 * const tracing = createTracing({
 *   spanProcessors: [new BatchSpanProcessor(new ConsoleSpanExporter())],
 * });
 * tracing.register();
 * // createAgentWorker({ …, extensions: [tracing] })
 */
export function createTracing(options: TracingOptions): Tracing {
  const { captureContent = false, redact = asItIs, traceUrl } = options;
  const { spanProcessors, resource, sampler } = options;
  const random = new RandomIdGenerator();
  const ids = createDerivedIds(random);
  const provider = new NodeTracerProvider({ idGenerator: ids, spanProcessors, resource, sampler });
  const spans = provider.getTracer(SCOPE, undefined, { schemaUrl: SCHEMA_URL });
  const toNames = namesOf(options.latestNames === true);
  const sampled = new Map<string, number>();

  /** Asks the sampler. A sampler that decides by trace id agrees in every process. */
  function flagsOf(traceId: string): number {
    const known = sampled.get(traceId);
    if (known !== undefined) return known;
    if (sampled.size >= MAX_SAMPLED) sampled.delete(sampled.keys().next().value ?? '');
    const traceFlags = askSampler(traceId);
    sampled.set(traceId, traceFlags);
    return traceFlags;
  }

  function askSampler(traceId: string): number {
    const start = { traceId, spanId: spanIdOf(traceId) };
    try {
      const probe = ids.using(start, () => spans.startSpan('probe', { root: true }, ROOT_CONTEXT));
      return probe.spanContext().traceFlags;
    } catch {
      // A run must not fail because of a sampler or a span processor.
      return TraceFlags.NONE;
    }
  }

  function contextOf({ trace: of, span }: SpanName): SpanContext {
    const traceId = traceIdOf(of);
    return { traceId, spanId: spanIdOf(span), traceFlags: flagsOf(traceId) };
  }

  function toLinks(links: FinishedSpan['links'] = []): Link[] {
    const contexts = links.map((link) =>
      typeof link === 'string' ? parseTraceparent(link) : contextOf(link),
    );
    return contexts.flatMap((linked) => (linked === undefined ? [] : [{ context: linked }]));
  }

  function toContent({ content }: FinishedSpan): Attributes {
    if (!captureContent || content === undefined) return {};
    const attributes: Attributes = {};
    try {
      for (const [name, value] of Object.entries(content())) {
        const shown: unknown = value === undefined ? undefined : redact(name, value);
        if (shown !== undefined) {
          attributes[name] = typeof shown === 'string' ? shown : JSON.stringify(shown);
        }
      }
      return attributes;
    } catch {
      return {};
    }
  }

  function write(span: FinishedSpan): void {
    const { id, parent, error } = span;
    const own = contextOf(id);
    const above =
      parent === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, { ...own, spanId: spanIdOf(parent) });
    const written = ids.using(own, () =>
      spans.startSpan(
        span.title,
        {
          kind: KINDS[span.kind],
          startTime: span.startMs,
          attributes: { ...toNames(span.attributes), ...toContent(span) },
          links: toLinks(span.links),
        },
        above,
      ),
    );
    if (error !== undefined) {
      written.setAttribute('error.type', error);
      written.setStatus({ code: SpanStatusCode.ERROR, message: error });
    }
    written.end(Math.max(span.startMs, span.endMs));
  }

  const below = (span: SpanContext, from: Context = context.active()): Context =>
    trace.setSpanContext(from, span);

  const tracer: Tracer = {
    write: (span) => {
      try {
        write(span);
      } catch {
        // A run must not fail because of its trace.
      }
    },
    within: (span, work) => context.with(below(contextOf(span)), work),
    serve: (traceparent, work) => {
      const brought = parseTraceparent(traceparent);
      const own = brought ?? {
        traceId: random.generateTraceId(),
        spanId: random.generateSpanId(),
        traceFlags: TraceFlags.NONE,
      };
      const request = brought === undefined ? undefined : traceparent;
      return context.with(below(own, ROOT_CONTEXT).setValue(REQUEST, request), work);
    },
    request: () => context.active().getValue(REQUEST) as string | undefined,
    urlOf: ({ trace: of, runId, sessionId }) =>
      traceUrl
        ?.replaceAll('{traceId}', traceIdOf(of))
        .replaceAll('{runId}', encodeURIComponent(runId))
        .replaceAll('{sessionId}', encodeURIComponent(sessionId)),
  };

  return {
    name: 'observe',
    tracer,
    ...traceRuns(tracer),
    logFields: () => {
      const active = trace.getSpanContext(context.active());
      if (active === undefined || !isSpanContextValid(active)) return {};
      return { trace_id: active.traceId, span_id: active.spanId };
    },
    register: () => provider.register(),
    close: () => provider.shutdown(),
  };
}

/** Derives an id from text, so that it is the same in every process and after a crash. */
function traceIdOf(text: string): string {
  return hash(`trace ${text}`).slice(0, 32);
}

function spanIdOf(text: string): string {
  return hash(`span ${text}`).slice(0, 16);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Creates random ids, except for spans that `using` starts with given ids. */
function createDerivedIds(random: IdGenerator): IdGenerator & {
  using: <T>(ids: { traceId: string; spanId: string }, start: () => T) => T;
} {
  let given: { traceId: string; spanId: string } | undefined;
  return {
    generateTraceId: () => given?.traceId ?? random.generateTraceId(),
    generateSpanId: () => given?.spanId ?? random.generateSpanId(),
    using: (ids, start) => {
      const before = given;
      given = ids;
      try {
        return start();
      } finally {
        given = before;
      }
    },
  };
}

/** Names newer than release 1.41 of the conventions, and their names in 1.41. */
const RELEASED: Record<string, string> = {
  'gen_ai.usage.cache_write.input_tokens': 'gen_ai.usage.cache_creation.input_tokens',
};

/** Renames attributes for a release and drops absent ones. Pure. */
function namesOf(isLatest: boolean): (attributes: SpanAttributes) => Attributes {
  return (attributes) => {
    const named: Attributes = {};
    for (const [name, value] of Object.entries(attributes)) {
      if (value === undefined) continue;
      named[isLatest ? name : (RELEASED[name] ?? name)] =
        typeof value === 'object' ? [...value] : value;
    }
    return named;
  };
}

const FORM = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Parses a W3C `traceparent`; undefined if it is malformed. Pure. */
function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const found = FORM.exec(text ?? '');
  if (found === null) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = found;
  const named = { traceId, spanId, traceFlags: parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(named) ? named : undefined;
}
