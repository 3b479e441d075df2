/** Traces of agent runs, for programs that compose their own processes. */
export { createTracing, type Tracing, type TracingOptions } from './create-tracing.js';
export type { FinishedSpan, SpanAttributes, SpanName, Tracer } from '../../protocol/telemetry.js';
