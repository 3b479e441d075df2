import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';

const FORM = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The span that a W3C `traceparent` names; undefined if it is malformed. Pure. */
export function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const found = FORM.exec(text ?? '');
  if (found === null) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = found;
  const named = { traceId, spanId, traceFlags: parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(named) ? named : undefined;
}
