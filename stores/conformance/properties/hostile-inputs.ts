import fc, { type Arbitrary } from 'fast-check';
import type { AssistantRow, UserRow } from '../../../protocol/rows.js';
import type { StreamChunk } from '../../../protocol/chunk.js';
import type { NewCall } from '../../contract/call-record.js';
import type { UserMessage } from '../../contract/runs.js';
import { AGENT, newCall } from '../fixtures.js';
import type { StoresUnderTest } from '../suite.js';
import { messageId, name, object, text, value } from './hostile-values.js';

export type Stores = Pick<StoresUnderTest, 'store' | 'streamManager'>;

/** What people, models and tools put into one session. */
export interface HostileLife {
  /** Ids of user messages and calls. */
  messageIds: string[];
  callIds: string[];
  toolName: string;
  eventName: string;
  stateKey: string;
  texts: string[];
  values: unknown[];
  objects: Record<string, unknown>[];
  /** How the approved call ends. */
  end: 'result' | 'stop' | 'abort' | 'lost' | 'failure';
}

const distinct = (ids: Arbitrary<string>): Arbitrary<string[]> =>
  fc.uniqueArray(ids, { minLength: 3, maxLength: 3, selector: (id) => id.toWellFormed() });

export const hostileLives: Arbitrary<HostileLife> = fc.record({
  messageIds: distinct(messageId),
  callIds: distinct(name),
  toolName: name,
  eventName: name,
  stateKey: text,
  texts: fc.array(text, { minLength: 3, maxLength: 3 }),
  values: fc.array(value, { minLength: 5, maxLength: 5 }),
  objects: fc.array(object, { minLength: 4, maxLength: 4 }),
  end: fc.constantFrom('result', 'stop', 'abort', 'lost', 'failure'),
});
export function toMessage(id: string, { texts, objects }: HostileLife, at: number): UserMessage {
  const part = { type: 'text' as const, text: texts[at] ?? '' };
  const row: UserRow = { role: 'user', id, metadata: objects[at] ?? {}, parts: [part] };
  return { id, hash: `hash ${texts[at] ?? ''}`, row, hidden: false };
}

export function toCalls({ callIds, toolName, values }: HostileLife): NewCall[] {
  const kinds = ['server', 'approval', 'client'] as const;
  return callIds.map((id, at) =>
    newCall(id, kinds[at] ?? 'server', { toolName, input: values[at] ?? null }),
  );
}

export function toSpec(call: NewCall | undefined): object {
  return { toolCallId: call?.toolCallId, toolName: call?.toolName, input: call?.input };
}

export function toReply(life: HostileLife, runId: string, id: string): AssistantRow {
  const calls = toCalls(life);
  const providerMetadata = { model: { of: life.texts[0] ?? '', empty: [], none: {} } };
  return {
    role: 'assistant',
    messageId: id,
    runId,
    step: 1,
    parts: [
      { type: 'text', text: life.texts[1] ?? '', providerMetadata },
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

export function toBase(
  agentId: string,
): Pick<StreamChunk, 'agentId' | 'agentType' | 'step' | 'timestamp'> {
  return { agentId, agentType: AGENT, step: 1, timestamp: 1 };
}
