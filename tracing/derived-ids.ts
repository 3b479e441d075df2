import { createHash } from 'node:crypto';
import type { IdGenerator } from '@opentelemetry/sdk-trace-node';
import { RandomIdGenerator } from '@opentelemetry/sdk-trace-node';

/** Hexadecimal digits of a trace's id, and of a span's. */
const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

/** The same text has the same id in every process, today and after a crash. */
export function traceIdOf(text: string): string {
  return digest(`trace ${text}`, TRACE_DIGITS);
}

export function spanIdOf(text: string): string {
  return digest(`span ${text}`, SPAN_DIGITS);
}

function digest(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

/** Random ids, except where a span is started with ids that are given. */
export interface DerivedIds extends IdGenerator {
  using: <T>(ids: { traceId: string; spanId: string }, start: () => T) => T;
}

export function createDerivedIds(): DerivedIds {
  const random = new RandomIdGenerator();
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
