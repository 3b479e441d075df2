import { createParser } from 'eventsource-parser';

/** The parts of a response as far as it came. */
export function parseParts(raw: string): object[] {
  const parts: object[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') parts.push(JSON.parse(data) as object);
    },
  });
  // Refusals are no streams.
  if (!raw.startsWith('{')) parser.feed(raw);
  return parts;
}
