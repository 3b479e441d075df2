import type { StreamChunk } from '../../../protocol/chunk.js';
import type { ErrorCode } from '../../../protocol/errors.js';
import type { Row, ToolRow } from '../../../protocol/rows.js';
import type { UserMessage } from '../../contract/runs.js';
import { AGENT, newCall, userMessage } from '../fixtures.js';
import type { Case } from '../suite.js';

export type Value = Record<string, unknown>;

/** A way in which a value enters a session. */
export interface Way {
  name: string;
  code: ErrorCode;
  /** Brings the session to the point where the value can enter. */
  prepare?: (setup: Case) => Promise<unknown>;
  give: (setup: Case, value: Value) => Promise<unknown>;
  /** Reads the stored value back. */
  read: (setup: Case) => Promise<unknown>;
}

export const runOf = async ({ store, session }: Case): Promise<string> =>
  (await store.sessions.read(session.id))?.runId ?? '';
export const rowsOf = ({ store, session }: Case): Promise<Row[]> =>
  store.sessions.rows(session.id, 0);
export const stateOf = async ({ store, session }: Case): Promise<unknown> =>
  (await store.documents.readState(session.id)).customState;

export const withMetadata = (id: string, metadata: Value): UserMessage => ({
  ...userMessage(id),
  row: { role: 'user', id, parts: [], metadata },
});
export const metadataOf = (row: Row | undefined): unknown => row?.role === 'user' && row.metadata;

export const base = ({
  session,
}: Case): Pick<StreamChunk, 'agentId' | 'agentType' | 'step' | 'timestamp'> => ({
  agentId: session.id,
  agentType: AGENT,
  step: 1,
  timestamp: 1,
});

/** A run whose first step has opened these calls. */
export async function ask(
  { session }: Case,
  ...calls: ReturnType<typeof newCall>[]
): Promise<void> {
  await session.ask((await session.newRun()).runId, 1, calls);
}

export async function askAndStart(setup: Case): Promise<void> {
  await ask(setup, newCall('c', 'server'));
  await setup.session.start(await runOf(setup), 1, 'c');
}

export async function settleTool(
  setup: Case,
  extra: object,
  output: unknown = 1,
): Promise<unknown> {
  const { store, session } = setup;
  const row: ToolRow = { role: 'tool', toolCallId: 'c', toolName: 'server-tool', output };
  return store.calls.settle({
    source: 'tool',
    writer: session.callWriter(await runOf(setup), 1, 'c', 1),
    toolCallId: 'c',
    row,
    chunks: [],
    now: 1,
    ...extra,
  });
}
