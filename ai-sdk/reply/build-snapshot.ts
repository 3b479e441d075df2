import type { Runs } from '../../runs/runs.js';
import type { CallDecision } from '../../protocol/replies.js';
import type { Decision, Row } from '../../protocol/rows.js';
import type { OpenCall } from '../../store/contract/call-record.js';
import type { SessionRecord, SessionView } from '../../store/contract/sessions.js';
import type { StagedChanges } from '../../store/contract/documents.js';
import { joinParts } from '../../store/contract/shared-data.js';
import type { Store } from '../../store/contract/store.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { fitChanges } from '../../store/record/apply-changes.js';
import { endOfStep } from '../../runs/branch.js';
import { toNewestRun } from '../../runs/record/newest-run.js';
import { toPendingQuestions } from '../../store/record/session-summaries.js';
import { convertToUIMessages } from '../parts/convert-messages.js';
import type { FrontendSnapshot } from '../parts/ui-message.js';
import { readPartialTurn } from '../turns/partial-turn.js';
import { isOngoing, toAllMessages, toSettledMessages } from '../turns/ui-history.js';
import { readOwnView, toCaller, type Caller } from './access.js';
import { judged, type AuthorityDeps, type Authorize } from './authority.js';
import { toQueue } from './queue.js';

export interface SnapshotDeps {
  stateStore: Pick<Store, 'sessions' | 'documents'>;
  streamManager: Pick<StreamManager, 'read'>;
  /** Settles overdue calls first; if absent, an expired question may still look open. */
  executor?: {
    readonly runs: Pick<Runs, 'expireCalls'> & Partial<Pick<Runs, 'mayApprove' | 'pauses'>>;
  };
  /** Ignored; accepted so that one object fits `handleChatStream` as well. */
  agent?: { readonly name: string } | string | undefined;
  /** Same as for `handleChatStream`. */
  authorize?: Authorize | undefined;
  /** False includes the message of an active turn unless the params decide otherwise. Default: true. */
  contentReplayEnabled?: boolean | undefined;
}

export interface SnapshotParams {
  sessionId: string;
  /** Includes the message of an active turn, up to now. A replay doubles it on old clients. */
  includePartialContent?: boolean;
  /** The user who asks. Default: the anonymous user, who sees only conversations without a user. */
  caller?: Caller | undefined;
}

/**
 * Builds the snapshot with which a page starts. It omits the message of an active run, since the
 * stream replays that from the beginning; otherwise the snapshot is complete.
 *
 * @returns null if the session does not exist or belongs to another user
 * @throws ConfigurationError if the stores work on different data
 */
export async function buildSnapshot<State = Record<string, unknown>>(
  deps: SnapshotDeps,
  {
    sessionId,
    includePartialContent = deps.contentReplayEnabled === false,
    caller = toCaller({}),
  }: SnapshotParams,
): Promise<FrontendSnapshot<State> | null> {
  joinParts(deps.stateStore, deps.streamManager);
  for (;;) {
    const read = await readCurrent(deps, sessionId, caller);
    if (read === undefined) return null;
    const view = await judged(toAuthority(deps), caller, read);
    const snapshot = await toSnapshot(deps, view, includePartialContent);
    if (await isCurrent(deps, view)) return snapshot as FrontendSnapshot<State>;
  }
}

function toAuthority(deps: Pick<SnapshotDeps, 'executor' | 'authorize'>): AuthorityDeps {
  const { authorize, executor } = deps;
  return { authorize, executor: executor?.runs };
}

/** Returns false if the session changed after the view: its state may be newer than the view. */
async function isCurrent({ stateStore }: SnapshotDeps, { record }: SessionView): Promise<boolean> {
  // An active turn is followed from a sequence whose state is known.
  if (record.stateVersion === 0 || record.stream === 'active') return true;
  const now = await stateStore.sessions.read(record.sessionId);
  return now?.sequence === record.sequence && now.born === record.born;
}

async function toSnapshot(
  deps: SnapshotDeps,
  view: SessionView,
  includePartialContent: boolean,
): Promise<FrontendSnapshot> {
  const { record, openCalls } = view;
  const isActive = record.stream === 'active';
  await noteSnapshot(deps.stateStore, record);
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
    existingMessageId: isOngoing(record) ? record.messageId : undefined,
    pending: toPendingQuestions(openCalls),
    ...toCallDecisions(openCalls, view.rows),
    run: toNewestRun(record, Date.now(), await deps.executor?.runs.pauses?.isHeld(record)),
    queue: toQueue(view.queue),
  };
}

/**
 * Records what a page was given: a GET without cookies replays a turn at rest only if the newest
 * snapshot or history left the turn out as active.
 */
export async function noteSnapshot(
  { sessions }: Pick<Store, 'sessions'>,
  { sessionId, stream, turn, activeSnapshotTurn }: SessionRecord,
): Promise<void> {
  // The note is right even if the run pauses meanwhile: this page has an active snapshot.
  const isActive = stream === 'active';
  if (isActive || activeSnapshotTurn === turn)
    await sessions.noteSnapshot(sessionId, turn, isActive);
}

async function readCurrent(
  { stateStore, executor }: SnapshotDeps,
  sessionId: string,
  caller: Caller,
): Promise<SessionView | undefined> {
  const view = await readOwnView(stateStore, sessionId, caller);
  if (view === undefined) return undefined;
  const { sessionId: storedId, deadline = Infinity } = view.record;
  const isOverdue = deadline <= Date.now() && (await executor?.runs.expireCalls(storedId)) === true;
  return isOverdue ? stateStore.sessions.view(storedId) : view;
}

/**
 * Reads the agent's state where the page begins to apply patches: the state at the turn's beginning
 * with its changes so far, if known. The store's newest state may be older than the stream, or newer
 * than the snapshot.
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
  /** Same as for `buildSnapshot`. */
  caller?: Caller | undefined;
}

/**
 * Builds the conversation as of a checkpoint, up to and including the results of its step's calls.
 * The stream cannot be followed from there.
 *
 * @returns null if the session or the checkpoint does not exist, or belongs to another user
 */
export async function buildPastSnapshot(
  input: { stateStore: Pick<Store, 'sessions' | 'checkpoints'> } & Pick<
    SnapshotDeps,
    'executor' | 'authorize'
  >,
  { sessionId, checkpointId, caller = toCaller({}) }: PastSnapshotParams,
): Promise<FrontendSnapshot | null> {
  const { stateStore, ...deps } = input;
  const view = await readOwnView(stateStore, sessionId, caller);
  if (view === undefined) return null;
  const checkpoint = await stateStore.checkpoints.get(view.record.sessionId, checkpointId);
  if (checkpoint === null) return null;
  const { rows, openCalls } = await judged(toAuthority(deps), caller, view);
  const end = endOfStep(rows, checkpoint.messageCount);
  return {
    state: checkpoint.stateVersion === 0 ? null : checkpoint.customState,
    messages: convertToUIMessages(rows.slice(0, end), { openCalls }),
    streamSequence: checkpoint.streamSequence,
    status: 'ended',
    checkpointId,
    timestamp: checkpoint.timestamp,
  };
}

/** Lists the decisions with their people, whom messages do not name. Empty without any. Pure. */
export function toCallDecisions(
  openCalls: readonly OpenCall[],
  rows: readonly Row[] = [],
): { decisions?: CallDecision[] } {
  const known = new Map<string, CallDecision>();
  const add = (toolCallId: string, decision: Decision | undefined): void => {
    if (decision === undefined) return;
    const { approved, by, at, automatic } = decision;
    known.set(toolCallId, { toolCallId, approved, by, at, automatic });
  };
  for (const row of rows) if (row.role === 'tool') add(row.toolCallId, row.decision);
  for (const { spec, row, decision } of openCalls) {
    add(spec.toolCallId, (row?.role === 'tool' ? row.decision : undefined) ?? decision);
  }
  return known.size === 0 ? {} : { decisions: [...known.values()] };
}
