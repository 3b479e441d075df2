import { randomUUID } from 'node:crypto';
import { createDataLines } from './data-lines.js';
import type { OnEvent } from './chat-client.js';
import { readRaw } from './raw-stream.js';

/**
 * Sends a message to the lab agent. Frames are recognised by their prefix `data: `,
 * so each must be written in one piece, and texts must be ASCII.
 *
 * Resolves when the reply is over, rejects if it is cut or refused.
 */
export function sayRaw(
  port: number,
  sessionId: string,
  text: string,
  onEvent: OnEvent,
  options: {
    id?: string;
    agent?: string;
    headers?: Record<string, string>;
    signal?: AbortSignal;
  } = {},
): Promise<void> {
  const message = { id: options.id ?? randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
  return readRaw({
    port,
    method: 'POST',
    path: `/api/chat/${sessionId}`,
    headers: { 'content-type': 'application/json', ...options.headers },
    body: JSON.stringify({ id: sessionId, agent: options.agent ?? 'lab', messages: [message] }),
    onPiece: createDataLines(onEvent),
    signal: options.signal,
  });
}

/** Follows the active turn until the signal fires. */
export function followRaw(
  port: number,
  sessionId: string,
  onEvent: OnEvent,
  signal: AbortSignal,
): Promise<void> {
  return readRaw({
    port,
    method: 'GET',
    path: `/api/chat/${sessionId}`,
    onPiece: createDataLines(onEvent),
    signal,
  });
}
