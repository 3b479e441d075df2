import { createParser } from 'eventsource-parser';
import type { WirePart } from '../support/sse-reader.js';

/** The parts of a response as far as it came. */
export function parseParts(raw: string): WirePart[] {
  const parts: WirePart[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') parts.push(JSON.parse(data) as WirePart);
    },
  });
  // Refusals are no streams.
  if (!raw.startsWith('{')) parser.feed(raw);
  return parts;
}
