import { randomBytes, randomUUID } from 'node:crypto';
import { wallClock } from '../clock.js';
import { createDataLines, type OnEvent } from './raw-stream.js';

export type { OnEvent };

export interface ChatClient {
  /** Sends a message; resolves when the reply is complete, rejects if it is cut. */
  say: (sessionId: string, text: string, onEvent?: OnEvent) => Promise<void>;
  /** Answers a waiting call; resolves when the answer is stored. */
  answer: (sessionId: string, toolCallId: string, answer: unknown) => Promise<void>;
  /** Requests a stop; resolves when it is recorded. */
  stop: (sessionId: string) => Promise<void>;
}

export function createChatClient(port: number, agent = 'lab'): ChatClient {
  async function post(path: string, content: unknown, onEvent?: OnEvent): Promise<void> {
    const reply = await fetch(`http://127.0.0.1:${String(port)}/api/chat/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(content),
    });
    if (!reply.ok) throw new Error(`refused with ${String(reply.status)}: ${await reply.text()}`);
    const takeLines = createDataLines(onEvent ?? (() => undefined));
    const decoder = new TextDecoder();
    for await (const piece of reply.body ?? []) {
      takeLines(decoder.decode(piece, { stream: true }), wallClock());
    }
  }

  return {
    say: (sessionId, text, onEvent) => post(sessionId, toChatBody(sessionId, agent, text), onEvent),
    answer: (sessionId, toolCallId, answer) => post(`${sessionId}/pending/${toolCallId}`, answer),
    stop: (sessionId) => post(`${sessionId}/stop`, {}),
  };
}

/** Returns the body of a POST that sends a new message. */
export function toChatBody(sessionId: string, agent: string, text: string): object {
  const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
  return { id: sessionId, agent, messages: [message] };
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
