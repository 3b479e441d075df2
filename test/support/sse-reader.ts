import { createParser } from 'eventsource-parser';
import { until } from './until.js';

/** A part of the UI message stream, as it came over the wire. */
export interface WirePart {
  type: string;
  [key: string]: unknown;
}

/** A response that is read in the background. */
export interface SseReader {
  readonly status: number;
  readonly headers: Headers;
  readonly parts: WirePart[];
  /** How the connection went: `ended` orderly, `broken off` with the events that say so, or `cut`. */
  readonly done: Promise<'ended' | 'broken off' | 'cut'>;
  text: () => string;
  /** All that came, as it came. */
  body: () => string;
  /** Resolves when a part of this type has come. */
  gets: (type: string) => Promise<WirePart>;
}

/** Sends a request and reads its stream, as a client without an opinion. */
export async function readSse(url: string, init?: RequestInit): Promise<SseReader> {
  const response = await fetch(url, init);
  const parts: WirePart[] = [];
  let body = '';
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') parts.push(JSON.parse(data) as WirePart);
    },
  });
  const read: () => SseReader['done'] = async () => {
    const decoder = new TextDecoder();
    try {
      for await (const bytes of response.body ?? []) {
        const piece = decoder.decode(bytes, { stream: true });
        body += piece;
        parser.feed(piece);
      }
      const [before, last] = parts.slice(-2);
      const isBroken = before?.type === 'data-stream-resync' && last?.type === 'error';
      return isBroken ? 'broken off' : 'ended';
    } catch {
      return 'cut';
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    parts,
    done: read(),
    text: () => toText(parts),
    body: () => body,
    gets: (type) => until(`a part ${type}`, () => parts.find((part) => part.type === type)),
  };
}

/** The text that a client shows: what was withdrawn by `reset-step` does not count. */
function toText(parts: readonly WirePart[]): string {
  let before = '';
  let step = '';
  for (const part of parts) {
    if (part.type === 'start-step') {
      before += step;
      step = '';
    }
    if (part.type === 'reset-step') step = '';
    if (part.type === 'text-delta') step += String(part['delta']);
  }
  return before + step;
}

/** Posts a user message the way stock clients do. */
export function postMessage(
  url: string,
  sessionId: string,
  message: { id: string; text: string },
  headers: Record<string, string> = {},
  agent = 'lab',
): Promise<SseReader> {
  const { id, text } = message;
  return readSse(`${url}/api/chat/${sessionId}?agent=${agent}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      id: sessionId,
      messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }],
      trigger: 'submit-message',
    }),
  });
}
