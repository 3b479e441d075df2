import type { SuspensionMarkerChunk } from '../protocol/chunk-guards.js';
import type { RunError } from '../protocol/run.js';
import type { RunUsage, RunInfo } from '../stores/contract/runs.js';
import type { Store } from '../stores/contract/store.js';

interface Suspended<Kind extends SuspensionMarkerChunk['kind']> {
  status: Kind;
  /** What it waits for. */
  suspended: Extract<SuspensionMarkerChunk, { kind: Kind }>['payload'];
}

/** How a run stands where it rests: it has ended, or it waits for somebody. */
export type AgentResult = {
  sessionId: string;
  runId: string;
  /** What the run's newest step said; empty if it said nothing. */
  text: string;
  /** What the run has used so far. */
  usage?: RunUsage;
} & (
  | {
      status: 'completed';
      /** The structured result, of an agent with an output schema. */
      output?: unknown;
    }
  /** Also a run that was aborted: code `framework_cancelled`. */
  | { status: 'failed'; error: RunError }
  | { status: 'interrupted'; reason?: string }
  | Suspended<'suspended_client_tool'>
  | Suspended<'suspended_step_partial'>
  | Suspended<'suspended_awaiting_children'>
);

type ResultStore = Pick<Store, 'sessions' | 'runs'>;

const FAILED: RunError = {
  code: 'run_failed',
  message: 'The run failed.',
  retryable: false,
};
const ABORTED: RunError = {
  code: 'framework_cancelled',
  message: 'The run was aborted.',
  retryable: false,
};

/** The result of a run that has ended; undefined if it has not. @throws HelixError `not_found` */
export async function readEndedResult(
  store: ResultStore,
  sessionId: string,
  runId: string,
): Promise<AgentResult | undefined> {
  const info = (await store.runs.list(sessionId)).find((run) => run.runId === runId);
  if (info?.endedAt === undefined) return undefined;
  const base = await readSaid(store, sessionId, info);
  switch (info.status) {
    case 'failed':
      return { ...base, status: 'failed', error: info.error ?? FAILED };
    case 'aborted':
      return { ...base, status: 'failed', error: info.error ?? ABORTED };
    case 'interrupted': {
      const { reason } = info;
      return { ...base, status: 'interrupted', ...(reason !== undefined && { reason }) };
    }
    default: {
      const { output } = info;
      return { ...base, status: 'completed', ...(output !== undefined && { output }) };
    }
  }
}

/** The result of a run that waits. @throws HelixError `not_found` */
export async function readSuspendedResult(
  store: ResultStore,
  sessionId: string,
  runId: string,
  { kind, payload }: Pick<SuspensionMarkerChunk, 'kind' | 'payload'>,
): Promise<AgentResult> {
  const info = (await store.runs.list(sessionId)).find((run) => run.runId === runId);
  const base = await readSaid(store, sessionId, info ?? { runId });
  // The marker's kind and payload belong together: its schema says so.
  return { ...base, status: kind, suspended: payload } as AgentResult;
}

async function readSaid(
  store: ResultStore,
  sessionId: string,
  { runId, usage }: Pick<RunInfo, 'runId' | 'usage'>,
): Promise<Pick<AgentResult, 'sessionId' | 'runId' | 'text' | 'usage'>> {
  const record = await store.sessions.read(sessionId);
  const rows = await store.sessions.rows(
    sessionId,
    record?.runId === runId ? record.turnStartRow : 0,
  );
  const said = rows.findLast((row) => row.role === 'assistant' && row.runId === runId);
  const parts = said?.role === 'assistant' ? said.parts : [];
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return { sessionId, runId, text, ...(usage !== undefined && { usage }) };
}
