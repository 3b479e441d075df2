import { createParser } from 'eventsource-parser';
import type { WirePart } from '../support/sse-reader.js';

/** Parses the parts of a possibly incomplete response. */
export function parseParts(raw: string): WirePart[] {
  const parts: WirePart[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') parts.push(JSON.parse(data) as WirePart);
    },
  });
  // A refusal is JSON and no stream.
  if (!raw.startsWith('{')) parser.feed(raw);
  return parts;
}
