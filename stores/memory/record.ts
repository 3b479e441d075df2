import type { OpenCall, Wake } from '../contract/call-record.js';
import type { SessionRecord } from '../contract/sessions.js';
import { fromJson, type Json } from './json.js';
import { firstDeadline } from './pause.js';
import type { MemoryCall, MemoryRun, MemorySession, Parent } from './session.js';
import { isConversation } from './tree.js';

/** A page that took an active snapshot may ask for the turn this much later. */
const ACTIVE_SNAPSHOT_MS = 60_000;

/** Undefined for a stream that has no session. */
export function toRecord(
  session: MemorySession | undefined,
  now: number,
): SessionRecord | undefined {
  const { identity, run, snapshot } = session ?? {};
  if (session === undefined || identity === undefined || run === undefined) return undefined;
  const { tenant, ...origin } = identity;
  const deadline = isConversation(session) ? firstDeadline(session) : undefined;
  return {
    sessionId: session.id,
    ...origin,
    ...(tenant !== '' && { tenant }),
    updatedAt: session.updatedAt,
    sequence: session.log.sequence,
    stream: session.root.stream ?? 'active',
    pauseSequence: session.pauseSequence,
    stateVersion: session.stateVersion,
    queued: session.queue.length,
    ...(session.turnState?.turn === run.turn && {
      turnStateVersion: session.turnState.version,
    }),
    ...(deadline !== undefined && { deadline }),
    ...(session.parent !== undefined && {
      parent: toParent(session.parent),
      conversationStep: session.root.run?.committedStep ?? 0,
    }),
    ...(session.wakes.size > 0 && { wakes: toWakes(session) }),
    ...(session.checkpointId !== undefined && { checkpointId: session.checkpointId }),
    ...(snapshot !== undefined &&
      now - snapshot.at < ACTIVE_SNAPSHOT_MS && { activeSnapshotTurn: snapshot.turn }),
    ...ofRun(run),
  };
}

function toParent({ session, runId, toolCallId }: Parent): SessionRecord['parent'] {
  return { sessionId: session.id, runId, toolCallId };
}

function toWakes({ wakes }: MemorySession): Wake[] {
  return [...wakes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, wake]) => fromJson(wake));
}

function ofRun(run: MemoryRun) {
  return {
    turn: run.turn,
    runId: run.runId,
    status: run.status,
    messageId: run.messageId,
    turnStartSequence: run.startSequence,
    turnStartRow: run.startRow,
    runStartedAt: run.startedAt,
    runMode: run.mode,
    ...(run.by !== undefined && { runBy: run.by }),
    runStartSequence: run.runSequence,
    runFromStep: run.fromStep,
    committedStep: run.committedStep,
    claimedStep: run.claimedStep,
    ...ifPresent('error', run.error),
    ...ifPresent('stop', run.stop),
    ...ifPresent('interrupted', run.interrupted),
    ...resultsOf(run),
    ...(run.resume !== undefined && {
      resume: fromJson(run.resume),
      resumeTaken: run.resumeTaken,
    }),
  };
}

/** What a run has used and come to, in its record and in its summary. */
export function resultsOf({
  usage,
  finishReason,
  output,
}: MemoryRun): Pick<SessionRecord, 'usage' | 'finishReason' | 'output'> {
  return {
    ...(usage !== undefined && { usage: { ...usage } }),
    ...(finishReason !== undefined && { finishReason }),
    ...ifPresent('output', output),
  };
}

export function toOpenCall(call: MemoryCall): OpenCall {
  const { askedAt, deadline } = call;
  return {
    spec: fromJson(call.spec),
    state: call.state,
    ...ifPresent('row', call.row),
    ...ifPresent('decision', call.decision),
    ...(askedAt !== undefined && { askedAt }),
    ...(deadline !== undefined && { deadline }),
    ...(call.ask !== undefined && { held: true }),
  };
}

function ifPresent<K extends string, T>(key: K, json: Json<T> | undefined): Partial<Record<K, T>> {
  return json === undefined ? {} : ({ [key]: fromJson(json) } as Record<K, T>);
}
