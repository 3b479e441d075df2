import type { FrontendSnapshot } from '../../protocol/replies.js';
import { createDataLines } from '../client/raw-stream.js';
import { sleep } from '../clock.js';

/** An undisturbed reply has much shorter pauses between words. */
const DISTURBED_MS = 1_500;

export type Reader = ReturnType<typeof createReader>;

/**
 * Creates a page that follows a turn over several connections.
 *
 * @param onRecovery called with the ms until words came again
 * @param leaveAfterMs drops the first response after this time, as a page reload does
 */
export function createReader(onRecovery: (ms: number) => void, leaveAfterMs = Infinity) {
  let leaveAt: number | undefined;
  let text = '';
  let max = 0;
  let grownAt: number | undefined;

  function take(line: string): boolean {
    if (line === '[DONE]') return false;
    const part = JSON.parse(line) as { type: string; delta?: string; finishReason?: string };
    if (part.type === 'start') text = '';
    if (part.type === 'text-delta') text += part.delta ?? '';
    if (part.type === 'text-end') text += ' ';
    if (text.length > max) {
      const now = performance.now();
      if (grownAt !== undefined && now - grownAt > DISTURBED_MS) onRecovery(now - grownAt);
      grownAt = now;
      max = text.length;
    }
    // At a pause the page must reconnect, because a question may expire and the run end meanwhile.
    return part.type === 'finish' && part.finishReason !== 'tool-calls';
  }

  return {
    /** Reads a response to its end; resolves to true if the turn ended with it, false if it was cut or is paused. */
    read: async (response: Response): Promise<boolean> => {
      let isEnded = false;
      const takePiece = createDataLines((line) => {
        isEnded = take(line) || isEnded;
      });
      const decoder = new TextDecoder();
      const isFirst = leaveAt === undefined;
      leaveAt ??= performance.now() + leaveAfterMs;
      try {
        for await (const piece of response.body ?? []) {
          takePiece(decoder.decode(piece, { stream: true }), 0);
          if (isFirst && performance.now() > leaveAt) return false;
        }
      } catch {
        return false;
      }
      return isEnded;
    },
    /** Words on the page; a replay starts over. */
    words: () => toWords(text),
    /** Restarts the wait for the next word, because a person had to act. */
    rest: () => {
      grownAt = undefined;
    },
  };
}

/** The fields of a message that a soak checks. */
interface ShownMessage {
  id: string;
  role: string;
  parts: { type: string; text?: string }[];
}
export type Shown = FrontendSnapshot<Record<string, unknown>, ShownMessage>;

const GIVE_UP_MS = 60_000;
const AGAIN_MS = 250;
const REPLY_MS = 20_000;

export type Requests = ReturnType<typeof createRequests>;

/**
 * Requests that are retried at another server while servers come and go.
 *
 * @param pickUrl returns the server for the next request
 */
export function createRequests(pickUrl: () => string) {
  /**
   * Resolves to a response other than 5xx.
   * @throws Error after a minute without one, or when the signal fires
   */
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
    snapshot: async (sessionId: string): Promise<Shown> => {
      for (;;) {
        const signal = AbortSignal.timeout(REPLY_MS);
        const response = await send(`/chat/${sessionId}/snapshot`, { signal });
        // The server died in the middle of its reply.
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

/**
 * Compares found words with sent ones; all words of a turn differ.
 *
 * @param isCut true if the turn was stopped, so that its last words may be missing or incomplete
 */
export function tally(
  sent: readonly string[],
  found: readonly string[],
  isCut: boolean,
): { lost: number; doubled: number } {
  const places = new Map(sent.map((word, at) => [word, at]));
  const seen = new Set<string>();
  let doubled = 0;
  let last = -1;
  for (const [at, word] of found.entries()) {
    const place = places.get(word);
    const isLast = at === found.length - 1;
    if (isCut && isLast && sent[last + 1]?.startsWith(word) === true) break;
    if (place === undefined || seen.has(word) || place < last) doubled += 1;
    seen.add(word);
    last = Math.max(last, place ?? -1);
  }
  const due = isCut ? sent.slice(0, last + 1) : sent;
  return { lost: due.filter((word) => !seen.has(word)).length, doubled };
}

export function toWords(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
