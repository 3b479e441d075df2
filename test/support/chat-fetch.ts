import {
  handleChatStream,
  type HandleChatStreamDeps,
  type IncomingRequest,
  type UIMessage,
} from '../../ai-sdk/index.js';
import type { PostedMessage } from '../../protocol/http.js';
import type { SnapshotDeps } from '../../ai-sdk/reply/build-snapshot.js';
import { snapshotOf } from './snapshot-of.js';

export interface ChatFetchOptions {
  headers?: Record<string, string>;
  /** The caller; anonymous if absent. */
  caller?: { userId: string; tenantId?: string };
  /** Start of the active turn in the viewer's snapshot; see HandleChatStreamParams. */
  sawActiveSince?: number | null;
  /** Collects the frames of each response. */
  texts?: string[];
}

/** Creates a fetch that answers a stock transport with `handleChatStream` and keeps the frames. */
export function createChatFetch(
  runtime: HandleChatStreamDeps,
  { headers: own = {}, texts = [], ...viewer }: ChatFetchOptions = {},
): { fetch: (url: string, init: RequestInit) => Promise<Response>; texts: string[] } {
  const deps: HandleChatStreamDeps = { ...runtime, defaultAgent: 'lab' };
  return {
    texts,
    fetch: async (url, init) => {
      const body = typeof init.body === 'string' ? (JSON.parse(init.body) as Body) : {};
      const sessionId = body.id ?? /chat\/([^/]+)/.exec(url)?.[1] ?? '';
      const headers = new Headers(init.headers);
      for (const [name, value] of Object.entries(own)) headers.set(name, value);
      const request: IncomingRequest = { method: init.method ?? 'GET', headers };
      const { messages = [], trigger, messageId } = body;
      const response = await handleChatStream(deps, {
        sessionId,
        messages,
        trigger,
        messageId,
        request,
        ...viewer.caller,
        sawActiveSince: viewer.sawActiveSince,
      });
      if (response.body === null) return response;
      const [kept, given] = response.body.tee();
      const index = texts.push('') - 1;
      void readText(kept, (text) => {
        texts[index] = (texts[index] ?? '') + text;
      });
      return new Response(given, response);
    },
  };
}

interface Body {
  id?: string;
  messages?: PostedMessage[];
  trigger?: string;
  messageId?: string;
}

/** Reads the messages of a snapshot, as a page gets them. */
export async function readStored(runtime: SnapshotDeps, sessionId: string): Promise<UIMessage[]> {
  const snapshot = await snapshotOf(runtime, sessionId);
  if (snapshot === null) throw new Error('there is no snapshot');
  return JSON.parse(JSON.stringify(snapshot.messages)) as UIMessage[];
}

async function readText(
  stream: ReadableStream<Uint8Array>,
  take: (text: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of stream) take(decoder.decode(bytes, { stream: true }));
  } catch {
    // The stream was cut; the test looks at the frames before the cut.
  }
}

/** Parses the parts of an SSE text, with their ids. */
export function parseFrames(text: string): { id: string | undefined; part: { type: string } }[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.includes('data: ') && !frame.includes('[DONE]'))
    .map((frame) => ({
      id: /^id: (.*)$/m.exec(frame)?.[1],
      part: JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? 'null') as { type: string },
    }));
}
