/**
 * Names a span by two texts: of its trace, and of the span within it. The tracer derives the ids of
 * both, so that it is the same span in whichever process, and however often, it is written.
 */
export interface SpanName {
  trace: string;
  span: string;
}

export type SpanAttributes = Record<
  string,
  string | number | boolean | readonly string[] | undefined
>;

/** Work that is over. */
export interface FinishedSpan {
  /** Its title: the operation, then what it is carried out on. */
  title: string;
  id: SpanName;
  /** The span above it in the same trace; absent: the first one. */
  parent?: string | undefined;
  /** `client` for a call of another service. */
  kind: 'internal' | 'client';
  /** Spans of other traces that led to it, by name or as a W3C `traceparent`. */
  links?: readonly (SpanName | string)[];
  /** ms since the epoch, with fractions. */
  startMs: number;
  endMs: number;
  attributes: SpanAttributes;
  /** Why it failed: a code. */
  error?: string | undefined;
  /** What people, models and tools wrote; asked for only if it is to be exported. */
  content?: (() => Record<string, unknown>) | undefined;
}

/** Writes spans of agent runs; it neither throws nor waits. */
export interface Tracer {
  write: (span: FinishedSpan) => void;
  /** Carries out work whose log lines, and spans of other libraries, belong below a span. */
  within: <T>(span: SpanName, work: () => T) => T;
  /** Carries out the work of a request, which may bring a W3C `traceparent`. */
  serve: <T>(traceparent: string | undefined, work: () => T) => T;
  /** The `traceparent` that the request in progress has brought. */
  request: () => string | undefined;
  /** A page that shows the trace, if there is one. */
  urlOf: (trace: { trace: string; runId: string; sessionId: string }) => string | undefined;
}
