import type { LogEntry } from '../protocol/chunk.js';
import type { SuspensionMarkerChunk } from '../protocol/chunk-guards.js';
import { HelixError } from '../protocol/errors.js';
import { isTerminal } from '../protocol/run.js';
import { retryWhileUnavailable } from '../stores/record/outage.js';
import type { SessionRecord } from '../stores/contract/sessions.js';
import type { Store } from '../stores/contract/store.js';
import type { StreamManager } from '../stores/log/stream-manager.js';

type Marker = Pick<SuspensionMarkerChunk, 'kind' | 'payload'>;
/** Where a run rests. */
export type Rest = { kind: 'ended' } | { kind: 'suspended'; marker: Marker };

export interface RestDeps {
  store: Pick<Store, 'sessions' | 'calls'>;
  streamManager: Pick<StreamManager, 'read' | 'follow'>;
}

/** The store writes marker and pause in one step, with little between them. */
const NEAR_PAUSE = 16;

/**
 * Resolves where the run rests, now or next: at its end or at a pause. The record says how it
 * stands, the stream wakes; nothing is polled. An outage of the store is waited out for 30 s.
 *
 * @throws HelixError `not_found` if there is no such session, `unavailable`; the signal's reason
 */
export async function awaitRest(
  deps: RestDeps,
  sessionId: string,
  runId: string,
  signal: AbortSignal,
): Promise<Rest> {
  for (;;) {
    signal.throwIfAborted();
    const record = await retryWhileUnavailable(() => deps.store.sessions.read(sessionId), signal);
    if (record === undefined) throw new HelixError('not_found', 'There is no such session.');
    if (record.runId !== runId || isTerminal(record.status)) return { kind: 'ended' };
    if (record.stream === 'paused') {
      const marker = await retryWhileUnavailable(() => readMarker(deps, record), signal);
      if (marker !== undefined) return { kind: 'suspended', marker };
    }
    const rest = await followToRest(deps, record, signal);
    if (rest !== undefined) return rest;
  }
}

/** Undefined when following broke off: the record has the next word. */
async function followToRest(
  { streamManager }: RestDeps,
  { sessionId, sequence }: SessionRecord,
  signal: AbortSignal,
): Promise<Rest | undefined> {
  let marker: Marker | undefined;
  try {
    for await (const entries of streamManager.follow(sessionId, sequence, signal)) {
      for (const entry of entries) {
        if (!isOfSession(entry, sessionId)) continue;
        const { message } = entry;
        if (message.type === 'stream_end') return { kind: 'ended' };
        if (message.type === 'suspension_marker') marker = message;
        // Without its marker, the pause is looked up in the record.
        if (message.type === 'run_paused') return marker && { kind: 'suspended', marker };
      }
    }
  } catch (error) {
    // Away for long, or older than what was read: looking again tells which.
    const isPassing =
      HelixError.isInstance(error) && (error.code === 'unavailable' || error.code === 'rewound');
    if (!isPassing) throw error;
  }
  return undefined;
}

/** What the newest pause waits for, as its marker says; else as the record does. */
async function readMarker(
  { store, streamManager }: RestDeps,
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

/** Written by the store itself, about this session and not about one of its sub-agents. */
function isOfSession({ writer, message }: LogEntry, sessionId: string): boolean {
  if (writer !== '') return false;
  return !('agentId' in message) || message.agentId === sessionId;
}
