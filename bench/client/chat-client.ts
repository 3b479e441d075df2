import { randomBytes, randomUUID } from 'node:crypto';
import { wallClock } from '../clock.js';
import { createDataLines, readRaw } from './raw-stream.js';

/** Called with the JSON of each event and the time when its bytes arrived. */
export type OnEvent = (json: string, at: number) => void;

export type ChatClient = ReturnType<typeof createChatClient>;

/** Frames are recognised by their prefix, so the server must write each in one piece, and texts must be ASCII. */
export function createChatClient(port: number, agent = 'lab') {
  const headers = { 'content-type': 'application/json' };
  const toBody = (sessionId: string, text: string): string => {
    const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
    return JSON.stringify({ id: sessionId, agent, messages: [message] });
  };
  async function post(path: string, body: string, onEvent?: OnEvent): Promise<void> {
    const url = `http://127.0.0.1:${String(port)}/api/chat/${path}`;
    const reply = await fetch(url, { method: 'POST', headers, body });
    if (!reply.ok) throw new Error(`refused with ${String(reply.status)}: ${await reply.text()}`);
    const takeLines = createDataLines(onEvent ?? (() => undefined));
    const decoder = new TextDecoder();
    for await (const piece of reply.body ?? []) {
      takeLines(decoder.decode(piece, { stream: true }), wallClock());
    }
  }

  return {
    /** Sends a message; resolves when the reply is complete or the signal fires, rejects if it is cut or refused. */
    say: (
      sessionId: string,
      text: string,
      onEvent: OnEvent = () => undefined,
      options: { headers?: Record<string, string>; signal?: AbortSignal } = {},
    ) =>
      readRaw({
        port,
        path: `/api/chat/${sessionId}`,
        headers: { ...headers, ...options.headers },
        body: toBody(sessionId, text),
        onPiece: createDataLines(onEvent),
        signal: options.signal,
      }),
    /** Sends a message with `fetch`, as applications do, which costs more time than a bare socket. */
    sayByFetch: (sessionId: string, text: string, onEvent: OnEvent) =>
      post(sessionId, toBody(sessionId, text), onEvent),
    /** Follows the active turn until the signal fires. */
    follow: (sessionId: string, onEvent: OnEvent, signal: AbortSignal) =>
      readRaw({ port, path: `/api/chat/${sessionId}`, onPiece: createDataLines(onEvent), signal }),
    /** Answers a waiting call; resolves when the answer is stored. */
    answer: (sessionId: string, toolCallId: string, answer: unknown) =>
      post(`${sessionId}/pending/${toolCallId}`, JSON.stringify(answer)),
    /** Requests a stop; resolves when it is recorded. */
    stop: (sessionId: string) => post(`${sessionId}/stop`, '{}'),
  };
}

/** Returns a session id that no earlier measurement on these servers has used. */
export function newSessionId(): string {
  return `bench-${randomBytes(9).toString('base64url')}`;
}

/** One model call of a lab script; the lab agent documents the keys. */
export interface LabEntry {
  say?: string;
  deltas?: number;
  everyMs?: number;
  stamp?: boolean;
  calls?: { tool: string; id: string; args: unknown }[];
}

/** Returns the user message that makes the lab agent perform these model calls. */
export function toLabText(...script: LabEntry[]): string {
  return JSON.stringify({ script });
}

/** Returns the script of a turn with this many steps, each with one `echo` call except the last. */
export function toEchoSteps(steps: number): string {
  const entries = Array.from({ length: steps - 1 }, (_, index): LabEntry => {
    const id = `c${String(index + 1)}`;
    return { calls: [{ tool: 'echo', id, args: { value: index + 1 } }] };
  });
  return toLabText(...entries, { say: 'done' });
}
