import type { AgentExecutor } from '../../executor/agent-executor.js';
import type { FrontendSnapshot as Snapshot, PendingQuestion } from '../../protocol/http.js';
import type { Row } from '../../protocol/rows.js';
import type { OpenCall } from '../../stores/contract/call-record.js';
import type { SessionRecord, SessionView } from '../../stores/contract/sessions.js';
import type { StagedChanges } from '../../stores/contract/staging.js';
import type { Store } from '../../stores/contract/store.js';
import type { StreamManager } from '../../stores/log/stream-manager.js';
import { fitChanges } from '../../stores/record/fit-changes.js';
import { toRunStanding } from '../../stores/record/run-standing.js';
import { toPendingCalls } from '../../stores/record/session-summaries.js';
import { convertToUIMessages } from '../parts/convert-messages.js';
import type { UIMessage } from '../parts/ui-message.js';
import { readPartialTurn } from '../turns/partial-turn.js';
import { isOngoing, toAllMessages, toSettledMessages } from '../turns/ui-history.js';
import { findOwnSession, isOwner, type Caller } from './access.js';
import { toQueue } from './queue.js';
import { toRuns, type RunsOf } from './types.js';

/** What `useChat` and the request preparers start from; `State` is what the agent declares as its own. */
export type FrontendSnapshot<State = Record<string, unknown>> = Omit<
  Snapshot<UIMessage>,
  'state'
> & {
  state: State | null;
};

export interface SnapshotDeps {
  stateStore: Pick<Store, 'sessions' | 'documents'>;
  streamManager: Pick<StreamManager, 'read'>;
  /** Settles what is overdue first; without it an expired question may still look open. */
  executor?: RunsOf<Pick<AgentExecutor, 'expireCalls'>>;
  /** False shows the message that a run is working on unless the params say otherwise. Default: true. */
  contentReplayEnabled?: boolean | undefined;
}

export interface SnapshotParams {
  sessionId: string;
  /** Shows the message that a run is working on, as far as it came. A replay doubles it on old clients. */
  includePartialContent?: boolean;
  /** Who asks. Without a caller nothing is returned. */
  caller: Caller;
}

/**
 * What a page needs to start. While a run is active its message is left out, since the stream
 * replays it from the beginning; at any other time everything is there.
 *
 * @returns null if there is no such session, or it belongs to somebody else
 */
export async function buildSnapshot<State = Record<string, unknown>>(
  deps: SnapshotDeps,
  {
    sessionId,
    includePartialContent = deps.contentReplayEnabled === false,
    caller,
  }: SnapshotParams,
): Promise<FrontendSnapshot<State> | null> {
  for (;;) {
    const view = await readCurrent(deps, sessionId, caller);
    if (view === undefined) return null;
    const snapshot = await toSnapshot(deps, view, includePartialContent);
    if (await isCurrent(deps, view)) return snapshot as FrontendSnapshot<State>;
  }
}

/** A run that went on while the agent's state was read may have changed it beyond what the view tells. */
async function isCurrent({ stateStore }: SnapshotDeps, { record }: SessionView): Promise<boolean> {
  // A turn at work is followed from a place of which the state is known.
  if (record.stateVersion === 0 || record.stream === 'active') return true;
  const now = await stateStore.sessions.read(record.sessionId);
  return now?.sequence === record.sequence && now.born === record.born;
}

async function toSnapshot(
  deps: SnapshotDeps,
  view: SessionView,
  includePartialContent: boolean,
): Promise<Snapshot<UIMessage>> {
  const { record, openCalls } = view;
  const isActive = record.stream === 'active';
  await noteSnapshot(deps, record);
  const messages = isActive ? toSettledMessages(view) : toAllMessages(view);
  const isReplayed = isActive && !includePartialContent;
  const { message, changes } =
    isActive && includePartialContent ? await readPartialTurn(deps.streamManager, view) : {};
  if (message !== undefined) messages.push(message);
  return {
    state: await readAgentState(deps, record, isReplayed ? [] : changes),
    messages,
    streamSequence: isReplayed ? record.turnStartSequence : record.sequence,
    status: record.stream,
    checkpointId: record.checkpointId ?? null,
    timestamp: Date.now(),
    startSequence: record.turnStartSequence,
    ...(isOngoing(record) && { existingMessageId: record.messageId }),
    pending: toPendingQuestions(openCalls),
    run: toRunStanding(record, Date.now()),
    queue: toQueue(view.queue),
  };
}

/** Whether the GET of a page without a memory of its own is told a turn that rests is up to the newest snapshot. */
async function noteSnapshot(
  { stateStore: { sessions } }: SnapshotDeps,
  { sessionId, stream, turn, activeSnapshotTurn }: SessionRecord,
): Promise<void> {
  // Noted also if the run pauses meanwhile: this page has an active snapshot in any case.
  if (stream === 'active') await sessions.noteActiveSnapshot(sessionId, turn);
  else if (activeSnapshotTurn === turn) await sessions.noteRestingSnapshot(sessionId, turn);
}

async function readCurrent(
  { stateStore, executor }: SnapshotDeps,
  sessionId: string,
  caller: Caller,
): Promise<SessionView | undefined> {
  // What belongs to others is not even read: how long that takes says how much there is.
  const record = await findOwnSession(stateStore, sessionId, caller);
  if (record === undefined) return undefined;
  const view = await stateStore.sessions.view(record.sessionId);
  if (view === undefined || !isOwner(view.record, caller)) return undefined;
  const { deadline = Infinity } = view.record;
  const runs = executor && toRuns(executor);
  const isOverdue = deadline <= Date.now() && (await runs?.expireCalls(record.sessionId)) === true;
  return isOverdue ? stateStore.sessions.view(record.sessionId) : view;
}

/**
 * A page applies the patches of the stream that follows its snapshot, so it begins where that does:
 * with the state of the turn's beginning and what the turn has changed so far, if that is known. The
 * store's newest state may be older than the stream, or newer than the snapshot.
 */
async function readAgentState(
  { stateStore }: SnapshotDeps,
  { sessionId, stateVersion }: SessionRecord,
  changes: StagedChanges[] | undefined,
): Promise<FrontendSnapshot['state']> {
  if (stateVersion === 0 && (changes ?? []).length === 0) return null;
  const at = changes === undefined ? 'now' : 'turn';
  const { customState } = await stateStore.documents.readState(sessionId, at);
  return fitChanges(customState, changes ?? []);
}

export interface PastSnapshotParams {
  sessionId: string;
  checkpointId: string;
  /** Who asks. Without a caller nothing is returned. */
  caller: Caller;
}

/**
 * The conversation as of a checkpoint: up to and including the results of its step's calls. It is a
 * picture, no place to follow the stream from.
 *
 * @returns null if there is no such session or checkpoint, or it belongs to somebody else
 */
export async function buildPastSnapshot(
  { stateStore }: { stateStore: Pick<Store, 'sessions' | 'checkpoints'> },
  { sessionId, checkpointId, caller }: PastSnapshotParams,
): Promise<Snapshot<UIMessage> | null> {
  const record = await findOwnSession(stateStore, sessionId, caller);
  if (record === undefined) return null;
  const view = await stateStore.sessions.view(record.sessionId);
  if (view === undefined || !isOwner(view.record, caller)) return null;
  const checkpoint = await stateStore.checkpoints.get(record.sessionId, checkpointId);
  if (checkpoint === null) return null;
  const { rows, openCalls } = view;
  let end = checkpoint.messageCount;
  while (isResult(rows[end])) end += 1;
  return {
    state: checkpoint.stateVersion === 0 ? null : checkpoint.customState,
    messages: convertToUIMessages(rows.slice(0, end), { openCalls }),
    streamSequence: checkpoint.streamSequence,
    status: 'ended',
    checkpointId,
    timestamp: checkpoint.timestamp,
  };
}

/** Results follow their step's reply, and so does what people were asked beside it. */
function isResult(row: Row | undefined): boolean {
  return row?.role === 'tool' || (row?.role === 'assistant' && row.display === true);
}

/** What people are asked now, in the order of the calls. Pure. */
export function toPendingQuestions(openCalls: readonly OpenCall[]): PendingQuestion[] {
  return Object.values(toPendingCalls(openCalls)).flatMap((call) => {
    const { toolCallId, toolName, kind, input, approvalId, deadline, response } = call;
    if (response !== undefined) return [];
    const extra = {
      ...(approvalId !== undefined && { approvalId }),
      ...(deadline !== undefined && { deadline }),
    };
    return [{ toolCallId, toolName, kind, input, ...extra }];
  });
}
