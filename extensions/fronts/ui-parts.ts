import { createParser } from 'eventsource-parser';
import type { Frames } from '../../api/extension.js';
import type { UIStreamPart } from '../../ai-sdk/index.js';

/**
 * The parts of a reply, those that arrived together at once. A reply of the AI SDK's stream is the one
 * source for other protocols, so that all of them show the same.
 *
 * @throws the error that breaks the reply off
 */
export async function* readParts(
  frames: Frames,
  signal: AbortSignal,
): AsyncGenerator<UIStreamPart[], void, undefined> {
  let parts: UIStreamPart[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') parts.push(JSON.parse(data) as UIStreamPart);
    },
  });
  const decoder = new TextDecoder();
  for await (const frame of frames(signal)) {
    parser.feed(typeof frame === 'string' ? frame : decoder.decode(frame, { stream: true }));
    if (parts.length === 0) continue;
    const arrived = parts;
    parts = [];
    yield arrived;
  }
}
