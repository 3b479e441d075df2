import { type Call, type SessionRecord as StoredRecord, fromUsage } from '../../session/record.js';
import { ofCall } from '../../session/settling.js';
import type { Session } from '../../session/tree.js';
import type { CallEdit, CallSpec, OpenCall, Wake } from '../contract/call-record.js';
import type { CustomState, StagedChanges, StateRead } from '../contract/documents.js';
import type { RunUsage } from '../contract/runs.js';
import type { SessionRecord } from '../contract/sessions.js';
import { parseRow, parseStored } from '../record/stored-json.js';

/** Converts stored sessions to the types of the contract. Pure. */

/** A page that took an active snapshot may request the turn up to this much later. */
const ACTIVE_SNAPSHOT_MS = 60_000;

export function toOpenCall({ content }: Session, call: Call): OpenCall {
  const { id, state, asked, deadline, hook, isHeld } = call;
  const made = parseStored(content.get(ofCall('spec', id)) ?? '{}', `call ${id}`) as CallSpec;
  let spec = made;
  const edit = call.edits && content.get(ofCall('edit', id));
  if (edit) {
    // The changed input takes the place, for people who are asked and for rules alike.
    const { input, ...about } = parseStored(edit, `edit of ${id}`) as CallEdit;
    spec = { ...made, input, edited: { ...about, from: made.input } };
  }
  const row = state === 'settled' ? content.get(ofCall('row', id)) : undefined;
  const decision = call.hasDecision && content.get(ofCall('decision', id));
  return {
    spec,
    state,
    ...(row !== undefined && { row: parseRow(row, `result of ${id}`) }),
    ...(decision !== undefined && {
      decision: parseStored(decision, `decision about ${id}`) as OpenCall['decision'],
    }),
    askedAt: asked,
    deadline,
    hook,
    held: isHeld,
  };
}

function usageOf(usage: StoredRecord['run']['usage']): RunUsage | undefined {
  return usage === undefined ? undefined : fromUsage(usage);
}

export function toRecord(session: Session, now: number): SessionRecord | undefined {
  const { record, tree, id } = session;
  if (record?.agent === undefined) return undefined;
  const { conversation, log } = tree;
  const { stream, run: conversationRun } = conversation.existing;
  const { run, turn, parent, snapshot, checkpoint, state } = record;
  const wakes = Object.entries(record.wakes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([part, { runId, ...resume }]): Wake => ({
      sessionId: tree.idOf(part),
      runId,
      resume,
    }));
  const output = run.outputRef && conversation.results.get(run.outputRef);
  const isFresh = snapshot !== undefined && now - snapshot.at < ACTIVE_SNAPSHOT_MS;
  return {
    sessionId: id,
    agent: record.agent,
    owner: record.owner,
    ...(record.tenant !== '' && { tenant: record.tenant }),
    born: record.born,
    createdAt: record.created,
    updatedAt: Math.max(record.updated, conversation.appended),
    sequence: log.sequence,
    turn: turn.n,
    runId: run.id,
    status: run.status,
    stream: stream ?? 'active',
    messageId: turn.messageId,
    turnStartSequence: turn.sequence,
    turnStartRow: turn.row,
    runStartedAt: run.started,
    runMode: run.mode,
    ...(run.by !== '' && { runBy: run.by }),
    askers: turn.askers,
    ...(record.hasHidden === true && { hasHidden: true }),
    storedBytes: record.sizes.stored,
    runStartSequence: run.sequence,
    runFromStep: run.fromStep,
    committedStep: run.committed,
    claimedStep: run.claimed,
    pauseSequence: run.paused,
    leg: run.leg && { number: run.leg.n + 1, at: run.leg.at, used: usageOf(run.leg.used) },
    queued: record.queue.length,
    stateVersion: state.version,
    checkpointId: checkpoint?.id,
    deadline: run.deadline,
    waitsUntil: run.waitsUntil,
    error: run.error,
    stop: run.stop,
    interrupted: run.interrupted,
    usage: usageOf(run.usage),
    finishReason: run.finishReason,
    ...(output !== undefined && { output: parseStored(output, 'output') }),
    ...(run.resume !== undefined && { resume: run.resume, resumeTaken: run.isTaken === true }),
    ...(parent !== undefined && {
      parent: {
        sessionId: tree.idOf(parent.part),
        runId: parent.runId,
        toolCallId: parent.toolCallId,
      },
      conversationStep: conversationRun.committed,
    }),
    ...(wakes.length > 0 && { wakes }),
    ...(isFresh && { activeSnapshotTurn: snapshot.turn }),
  };
}

/** Returns the agent's own state at a version; undefined if it is no longer kept. */
export function stateAt({ content }: Session, version: number): CustomState | undefined {
  const text = version === 0 ? '{}' : content.get(`v:${String(version)}`);
  return text === undefined ? undefined : (parseStored(text, 'state') as CustomState);
}

/** Returns the agent's own state and its staged changes, in the order of staging. */
export function toStateRead(session: Session): StateRead {
  const { version, staged } = session.existing.state;
  const changes = staged.map(({ step, call }) => {
    const text = session.content.get(`s:${step}/${call}`) ?? '{}';
    return { ...(parseStored(text, 'staged changes') as StagedChanges), stepId: step };
  });
  return { version, customState: stateAt(session, version) ?? {}, staged: changes };
}
