import type { ChunkOf } from '../../../../protocol/chunk.js';
import type { AssistantRow } from '../../../../protocol/rows.js';
import type { Writer } from '../../../../stores/contract/log.js';
import { stepOf, type Knowledge } from './session-knowledge.js';

export const AGENT = 'tester';
const NOW = 1_700_000_000_000;

/** What the events of one moment are made of: the same for every store. */
export interface Scene {
  known: Knowledge;
  now: number;
  /** Occurs in this event only. */
  id: string;
  runId: string;
  step: number;
  writer: (token: number, step?: number) => Writer;
  text: (delta: string) => ChunkOf<'text_delta'>;
  reply: () => AssistantRow;
}

export function createScene(known: Knowledge): Scene {
  const { sessionId, record, n } = known;
  const step = stepOf(known);
  const runId = record?.runId ?? `${sessionId}:1-none`;
  const now = NOW + n;
  const id = `x${String(n)}`;
  return {
    known,
    now,
    id,
    runId,
    step,
    writer: (token, of = step) => ({
      sessionId,
      runId,
      name: `m${String(of)}`,
      token,
      agentType: AGENT,
      step: of,
    }),
    text: (delta) => ({
      type: 'text_delta',
      agentId: sessionId,
      agentType: AGENT,
      timestamp: now,
      step,
      delta,
    }),
    reply: () => ({
      role: 'assistant',
      messageId: record?.messageId ?? 'msg-0',
      runId,
      step,
      parts: [{ type: 'text', text: id }],
    }),
  };
}
