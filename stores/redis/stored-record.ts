import { rootOf } from '../../protocol/ids.js';
import type { SessionRecord as StoredRecord } from '../../session/record.js';
import type { CallEdit, CallSpec, OpenCall, Wake } from '../contract/call-record.js';
import type { RunUsage } from '../contract/runs.js';
import type { SessionRecord } from '../contract/sessions.js';
import { fromUsage } from '../record/run-usage.js';
import type { CallTexts, SessionTexts } from './session-texts.js';
import { corrupt, parseRow, parseStored } from './stored-json.js';

/** What is stored of a session, as the contract has it. Pure. */

/** A page that took an active snapshot may request the turn up to this much later. */
const ACTIVE_SNAPSHOT_MS = 60_000;

export function toOpenCall({ call, spec, row, decision, edit }: CallTexts): OpenCall {
  const { id, state, asked, deadline, isHeld } = call;
  const made = parseStored(spec, `call ${id}`) as CallSpec;
  return {
    spec:
      edit === undefined ? made : withEdit(made, parseStored(edit, `edit of ${id}`) as CallEdit),
    state,
    ...(row !== undefined && { row: parseRow(row, `result of ${id}`) }),
    ...(decision !== undefined && {
      decision: parseStored(decision, `decision about ${id}`) as OpenCall['decision'],
    }),
    ...(asked !== undefined && { askedAt: asked }),
    ...(deadline !== undefined && { deadline }),
    ...(isHeld === true && { held: true }),
  };
}

/** From then on every reader has the changed input: those who are asked, and rules about it. */
function withEdit(spec: CallSpec, { input, ...edit }: CallEdit): CallSpec {
  return { ...spec, input, edited: { ...edit, from: spec.input } };
}

function usageOf(usage: StoredRecord['run']['usage']): RunUsage | undefined {
  return usage === undefined ? undefined : fromUsage(usage);
}

export function toRecord(texts: SessionTexts, now: number): SessionRecord {
  const { id, record, sequence, stream, conversation, output } = texts;
  const { run, turn, parent, snapshot, checkpoint, state } = record;
  const wakes = Object.entries(record.wakes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([part, { runId, ...resume }]): Wake => ({
      sessionId: `${rootOf(id)}.${part}`,
      runId,
      resume,
    }));
  const isFresh = snapshot !== undefined && now - snapshot.at < ACTIVE_SNAPSHOT_MS;
  return {
    sessionId: id,
    agent: record.agent ?? '',
    owner: record.owner,
    ...(record.tenant !== '' && { tenant: record.tenant }),
    born: record.born,
    createdAt: record.created,
    updatedAt: Math.max(record.updated, texts.appended),
    sequence,
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
    ...(run.leg !== undefined && {
      leg: { number: run.leg.n + 1, at: run.leg.at, used: usageOf(run.leg.used) },
    }),
    queued: record.queue.length,
    stateVersion: state.version,
    ...(turn.stateVersion !== undefined && { turnStateVersion: turn.stateVersion }),
    checkpointId: checkpoint?.id,
    ...(run.deadline !== undefined && { deadline: run.deadline }),
    ...(run.waitsUntil !== undefined && { waitsUntil: run.waitsUntil }),
    error: run.error,
    stop: run.stop,
    interrupted: run.interrupted,
    usage: usageOf(run.usage),
    finishReason: run.finishReason,
    ...(output !== undefined && { output: parseStored(output, 'output') }),
    ...(run.resume !== undefined && { resume: run.resume, resumeTaken: run.isTaken === true }),
    ...(parent !== undefined && {
      parent: {
        sessionId: rootOf(id) + (parent.part === '' ? '' : `.${parent.part}`),
        runId: parent.runId,
        toolCallId: parent.toolCallId,
      },
      conversationStep: conversation.run.committed,
    }),
    ...(wakes.length > 0 && { wakes }),
    ...(isFresh && { activeSnapshotTurn: snapshot.turn }),
  };
}

export function toNumber(what: string, text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number)) throw corrupt(what);
  return number;
}
