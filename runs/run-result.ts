import type { SuspensionMarkerChunk } from '../protocol/chunk-guards.js';
import type { LogEntry } from '../protocol/chunk.js';
import { hasCode, HelixError } from '../protocol/errors.js';
import type { PendingQuestion } from '../protocol/replies.js';
import { isTerminal, type RunError } from '../protocol/run.js';
import type { RunUsage, RunInfo } from '../store/contract/runs.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import type { Store } from '../store/contract/store.js';
import { ABORTED } from '../session/finish.js';
import type { StreamManager } from '../store/log/stream-manager.js';
import { retryWhileUnavailable } from '../store/record/outage.js';
import { toPendingQuestions } from '../store/record/session-summaries.js';

type Marker = Pick<SuspensionMarkerChunk, 'kind' | 'payload'>;
export type Standstill = { kind: 'ended' } | { kind: 'suspended'; marker: Marker };

export interface ResultDeps {
  store: Pick<Store, 'sessions' | 'calls'>;
  streamManager: Pick<StreamManager, 'read' | 'follow'>;
  /** Aborts, with a HelixError, when the executor will carry out no more runs. */
  closed?: AbortSignal | undefined;
}

/** The store writes marker and pause in one step, with little between them. */
const NEAR_PAUSE = 16;

/**
 * Resolves once the run has ended or waits. The record gives the state and the stream wakes, so
 * nothing is polled. Retries for 30 s while the store is away.
 *
 * @throws HelixError `not_found` if there is no such session, `unavailable`, also once the executor is
 * closed; the signal's reason
 */
export async function awaitStandstill(
  deps: ResultDeps,
  sessionId: string,
  runId: string,
  signal: AbortSignal,
): Promise<Standstill> {
  for (;;) {
    signal.throwIfAborted();
    const record = await retryWhileUnavailable(() => deps.store.sessions.read(sessionId), signal);
    if (record === undefined) throw new HelixError('not_found', 'There is no such session.');
    if (record.runId !== runId || isTerminal(record.status)) return { kind: 'ended' };
    if (record.stream === 'paused') {
      const marker = await retryWhileUnavailable(() => readMarker(deps, record), signal);
      if (marker !== undefined) return { kind: 'suspended', marker };
    }
    deps.closed?.throwIfAborted();
    const either = deps.closed === undefined ? signal : AbortSignal.any([signal, deps.closed]);
    const found = await followToStandstill(deps, record, either);
    if (found !== undefined) return found;
  }
}

/** Returns undefined if following broke off, so that the record must be read again. */
async function followToStandstill(
  { streamManager }: ResultDeps,
  { sessionId, sequence }: SessionRecord,
  signal: AbortSignal,
): Promise<Standstill | undefined> {
  let marker: Marker | undefined;
  try {
    for await (const entries of streamManager.follow(sessionId, sequence, signal)) {
      for (const entry of entries) {
        if (!isOfSession(entry, sessionId)) continue;
        const { message } = entry;
        if (message.type === 'stream_end') return { kind: 'ended' };
        if (message.type === 'suspension_marker') marker = message;
        // Without its marker, the pause is read from the record.
        if (message.type === 'run_paused') return marker && { kind: 'suspended', marker };
      }
    }
  } catch (error) {
    // The store was away for long, or is older than what was read; the next read shows which.
    const isPassing = hasCode(error, 'unavailable', 'rewound');
    if (!isPassing) throw error;
  }
  return undefined;
}

/** Reads the newest pause from its marker, else from the record. */
async function readMarker(
  { store, streamManager }: ResultDeps,
  { sessionId, pauseSequence }: SessionRecord,
): Promise<Marker | undefined> {
  const from = Math.max(0, pauseSequence - NEAR_PAUSE);
  const entries = await streamManager.read(sessionId, from, NEAR_PAUSE);
  const found = entries.findLast(
    (entry) =>
      entry.sequence <= pauseSequence &&
      entry.message.type === 'suspension_marker' &&
      isOfSession(entry, sessionId),
  );
  if (found?.message.type === 'suspension_marker') return found.message;
  const context = await store.calls.suspension(sessionId);
  if (context === null) return undefined;
  const { kind, toolCallIds, stepId } = context;
  if (kind === 'suspended_awaiting_children') return { kind, payload: { children: [] } };
  return kind === 'suspended_step_partial'
    ? { kind, payload: { toolCallIds, stepId } }
    : { kind, payload: { toolCallIds } };
}

/** Returns true for an entry of the store itself about this session, not about a sub-agent. */
function isOfSession({ writer, message }: LogEntry, sessionId: string): boolean {
  if (writer !== '') return false;
  return !('agentId' in message) || message.agentId === sessionId;
}

interface Suspended<Kind extends SuspensionMarkerChunk['kind']> {
  status: Kind;
  /** The calls or sub-agents that it waits for. */
  suspended: Extract<SuspensionMarkerChunk, { kind: Kind }>['payload'];
  /** Open questions to people, those of sub-agents included; same as in the snapshot. */
  pending: PendingQuestion[];
}

/** The result of a run: it has ended, or it waits for people or sub-agents. */
export type AgentResult = {
  sessionId: string;
  runId: string;
  /** The text of the run's newest step; empty before the first. */
  text: string;
  usage?: RunUsage;
} & (
  | {
      status: 'completed';
      /** The structured result, of an agent with an output schema. */
      output?: unknown;
    }
  /** An aborted run fails, too, with code `framework_cancelled`. */
  | { status: 'failed'; error: RunError }
  | { status: 'interrupted'; reason?: string }
  | Suspended<'suspended_client_tool'>
  | Suspended<'suspended_step_partial'>
  | Suspended<'suspended_awaiting_children'>
);

/** The result with its status as `kind`. */
export type RunOutcome = AgentResult extends infer Result
  ? Result extends AgentResult
    ? Omit<Result, 'status'> & { kind: Result['status'] }
    : never
  : never;

type ResultStore = Pick<Store, 'sessions' | 'runs'>;

const FAILED: RunError = {
  code: 'run_failed',
  message: 'The run failed.',
  retryable: false,
};

/**
 * Reads the result of a run that has ended; undefined if it has not.
 *
 * @throws HelixError `not_found`, also for a run that an erasure has removed from the session
 */
export async function readEndedResult(
  store: ResultStore,
  sessionId: string,
  runId: string,
): Promise<AgentResult | undefined> {
  const info = await store.runs.read(sessionId, runId);
  if (info === null) throw new HelixError('not_found', 'There is no such run.');
  if (info.endedAt === undefined) return undefined;
  const base = await readText(store, sessionId, info);
  switch (info.status) {
    case 'failed':
      return { ...base, status: 'failed', error: info.error ?? FAILED };
    case 'aborted':
      return { ...base, status: 'failed', error: info.error ?? ABORTED };
    case 'interrupted': {
      const { reason } = info;
      return { ...base, status: 'interrupted', reason };
    }
    default: {
      const { output } = info;
      return { ...base, status: 'completed', output };
    }
  }
}

export async function readSuspendedResult(
  store: ResultStore,
  sessionId: string,
  runId: string,
  { kind, payload }: Pick<SuspensionMarkerChunk, 'kind' | 'payload'>,
): Promise<AgentResult> {
  const info = await store.runs.read(sessionId, runId);
  const base = await readText(store, sessionId, info ?? { runId, startRow: 0 });
  const view = await store.sessions.withCalls(sessionId);
  const isPaused = view?.record.runId === runId && view.record.stream === 'paused';
  const pending = isPaused ? toPendingQuestions(view.openCalls) : [];
  // The schema of markers ties kind and payload together.
  return { ...base, status: kind, suspended: payload, pending } as AgentResult;
}

async function readText(
  store: ResultStore,
  sessionId: string,
  { runId, usage, startRow }: Pick<RunInfo, 'runId' | 'usage' | 'startRow'>,
): Promise<Pick<AgentResult, 'sessionId' | 'runId' | 'text' | 'usage'>> {
  const rows = await store.sessions.rows(sessionId, startRow);
  const reply = rows.findLast((row) => row.role === 'assistant' && row.runId === runId);
  const parts = reply?.role === 'assistant' ? reply.parts : [];
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return { sessionId, runId, text, usage };
}
