import type { FrontendSnapshot } from '../../protocol/http.js';
import { sleep } from '../clock.js';

/** A message as a page shows it, as far as a soak looks at it. */
export interface ShownMessage {
  id: string;
  role: string;
  parts: { type: string; text?: string }[];
}
export type Shown = FrontendSnapshot<Record<string, unknown>, ShownMessage>;

/** Requests of people whose servers come and go: they try again, at another server. */
export interface Requests {
  /** A response other than 5xx. @throws Error after a minute without one, or when the signal fires */
  send: (path: string, init?: RequestInit) => Promise<Response>;
  snapshot: (sessionId: string) => Promise<Shown>;
}

const GIVE_UP_MS = 60_000;
const AGAIN_MS = 250;
const REPLY_MS = 20_000;

/** @param pickUrl where the next request goes */
export function createRequests(pickUrl: () => string): Requests {
  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const giveUpAt = Date.now() + GIVE_UP_MS;
    for (;;) {
      const response = await fetch(`${pickUrl()}/api${path}`, init).catch(() => undefined);
      if (response !== undefined && response.status < 500 && response.status !== 429) {
        return response;
      }
      await response?.body?.cancel();
      if (Date.now() > giveUpAt) {
        throw new Error(`no answer to ${path}: ${String(response?.status ?? 'unreachable')}`);
      }
      await sleep(AGAIN_MS);
    }
  }
  return {
    send,
    snapshot: async (sessionId) => {
      for (;;) {
        const signal = AbortSignal.timeout(REPLY_MS);
        const response = await send(`/chat/${sessionId}/snapshot`, { signal });
        // A server that dies in the middle of its reply.
        const shown: unknown = await response.json().catch(() => undefined);
        if (response.ok && shown !== undefined) return shown as Shown;
        if (!response.ok) throw new Error(`snapshot: ${String(response.status)}`);
      }
    },
  };
}

export function json(body: unknown): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}
