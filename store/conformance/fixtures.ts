import { randomBytes } from 'node:crypto';
import type { ChunkOf, LogEntry, StreamMessage } from '../../protocol/chunk.js';
import type { AssistantRow, UserRow } from '../../protocol/rows.js';
import type { NewCall } from '../contract/call-record.js';
import type { Writer } from '../contract/log.js';
import type { UserMessage } from '../contract/runs.js';

export const AGENT = 'tester';

export function newSessionId(): string {
  return `s-${randomBytes(6).toString('hex')}`;
}

export function newNonce(): string {
  return randomBytes(4).toString('hex');
}

export function userMessage(id: string, text = `hello from ${id}`): UserMessage {
  const row: UserRow = { role: 'user', id, parts: [{ type: 'text', text }] };
  return { id, hash: text, row, hidden: false };
}

/** A call of the given kind, with a matching name. */
export function newCall(
  toolCallId: string,
  kind: NewCall['kind'],
  extra: Partial<NewCall> = {},
): NewCall {
  return { toolCallId, toolName: `${kind}-tool`, kind, input: { of: toolCallId }, ...extra };
}

export const approval = (id: string, extra?: Partial<NewCall>): NewCall =>
  newCall(id, 'approval', extra);
export const client = (id: string, extra?: Partial<NewCall>): NewCall =>
  newCall(id, 'client', extra);
export const server = (id: string, extra?: Partial<NewCall>): NewCall =>
  newCall(id, 'server', extra);

/** Returns the row of a step with these calls. */
export function assistantRow({ runId, step }: Writer, calls: readonly NewCall[]): AssistantRow {
  return {
    role: 'assistant',
    messageId: 'msg-?',
    runId,
    step,
    parts: [
      { type: 'text', text: `step ${String(step)}` },
      ...calls.map(({ toolCallId, toolName, input, kind }) => ({
        type: 'tool-call' as const,
        toolCallId,
        toolName,
        input,
        kind,
      })),
    ],
  };
}

export function textChunk(delta: string, step = 1, agentId = 'agent'): ChunkOf<'text_delta'> {
  return { type: 'text_delta', agentId, agentType: AGENT, step, timestamp: Date.now(), delta };
}

/** The text in messages, in order. */
export function textOf(messages: readonly StreamMessage[]): string {
  return messages.map((message) => (message.type === 'text_delta' ? message.delta : '')).join('');
}

/** The text in a log, in order. */
export function textIn(entries: readonly LogEntry[]): string {
  return textOf(entries.map(({ message }) => message));
}
