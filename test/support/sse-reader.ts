import { createParser } from 'eventsource-parser';
import { until } from './until.js';

export interface WirePart {
  type: string;
  [key: string]: unknown;
}

/** A response that is read in the background. */
export interface SseReader {
  readonly status: number;
  readonly headers: Headers;
  readonly parts: WirePart[];
  /** Outcome of the connection: ended properly, ended by a break-off event, or cut. */
  readonly done: Promise<'ended' | 'broken off' | 'cut'>;
  text: () => string;
  body: () => string;
  gets: (type: string) => Promise<WirePart>;
}

/** Sends a request and reads its stream without interpreting it. */
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

/** Returns the text that a client shows, without parts that `reset-step` withdrew. */
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

/** Posts a user message as stock clients do. */
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
