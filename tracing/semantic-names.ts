import type { Attributes } from '@opentelemetry/api';
import type { SpanAttributes } from '../protocol/tracer.js';

/** Names that are new since release 1.41 of the conventions, and what they were there. */
const RELEASED: Record<string, string> = {
  'gen_ai.usage.cache_write.input_tokens': 'gen_ai.usage.cache_creation.input_tokens',
};

/** Attributes under the names of a release, without those that are absent. Pure. */
export function namesOf(isLatest: boolean): (attributes: SpanAttributes) => Attributes {
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
