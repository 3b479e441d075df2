import type { Act, Message, Only, Stored, UserMessage } from './input.js';
import { formatModelWriter, formatReplyId, isOfNonce } from '../protocol/ids.js';
import { isTerminal, type RunMode, type TerminalStatus } from '../protocol/run.js';
import type { KnownPerson } from '../protocol/actor.js';
import { newestRun, type Begun } from './begin.js';
import { acceptedHash, countDropped, headOf, storeMessages } from './messages.js';
import { authorOf, countControls, writeResumed } from './chunks.js';
import { addVersion, dropStates, unstage } from './state.js';
import { noteAct } from './acts.js';
import { checkpointAt, findTarget, type Target } from './target.js';
import { joinAskers, nextRunId, toAsker, startRun } from './turns.js';
import { type Session } from './tree.js';
import { writeResync } from './writers.js';

export interface ResumeRun {
  sessionId: string;
  /** The run to continue; refused if another run is the newest. Default: the newest. */
  runId?: string;
  /** Random part of the new run's id. */
  nonce: string;
  mode: Extract<RunMode, 'continue' | 'with_confirmation'>;
  /** The requester, for the record. */
  by?: string;
  /** The requester as a person, who is added to the askers. */
  asker?: KnownPerson;
  now: number;
  act?: Act;
}

export type ResumeReply =
  | { kind: 'resumed'; run: Begun }
  | { kind: 'active'; runId: string }
  /** Another run is the newest. */
  | { kind: 'stale_run'; runId: string }
  /** The end of the newest run does not allow another run. */
  | { kind: 'final'; status: TerminalStatus }
  | { kind: 'not_found' };

/**
 * Starts a new run for the turn of a run that was interrupted, or failed for a temporary reason. It continues after the
 * last step in the transcript.
 *
 * In this order: the session exists · this nonce already started a run (same reply) · no run is active · the requested
 * run is the newest · its end allows another run.
 */
export function resumeRun(
  session: Session,
  { runId, nonce, now, mode, by = '', asker, act }: Stored<ResumeRun>,
): ResumeReply {
  const { record } = session;
  if (record?.agent === undefined) return { kind: 'not_found' };
  const { run, turn } = record;
  if (isOfNonce(run.id, nonce)) return { kind: 'resumed', run: newestRun(session) };
  if (!isTerminal(run.status)) return { kind: 'active', runId: run.id };
  if (runId !== undefined && runId !== run.id) return { kind: 'stale_run', runId: run.id };
  const mayPass = run.status === 'failed' && run.error?.retryable === true;
  if (run.status !== 'interrupted' && !mayPass) return { kind: 'final', status: run.status };
  const step = lastStep(session);
  const { log } = session.tree;
  // The unfinished step is repeated under the same number, so its entries are removed.
  if (run.claimed > step) {
    const writer = formatModelWriter(session.id, run.claimed);
    const first = run.openSequence ?? run.sequence;
    log.remove(log.after(first, Infinity).filter(([, by]) => by === writer));
  }
  recountControls(session);
  const sequence = log.sequence;
  const { id, n } = nextRunId(session, nonce);
  writeResumed(session, authorOf(session, now, step), { runId: id, step, mode });
  turn.askers = joinAskers(turn.askers, toAsker({ asker, by }));
  const place = session.turns.get(turn.n);
  if (place !== undefined) session.turns.set(turn.n, { ...place, askers: turn.askers, run: id });
  startRun(session, { id, n, mode, by, sequence, step }, now);
  noteAct(session, act, { outcome: 'begun', tenant: record.tenant, runId: id });
  return { kind: 'resumed', run: newestRun(session) };
}

/** Newest rows in which the last reply is looked up first; most steps have fewer results. */
const NEWEST_ROWS = 10;

/** Returns the last step with a reply. One that was rebuilt after its writer died is there without a commit. */
function lastStep(session: Session): number {
  const { run, turn } = session.existing;
  let to = session.rows.count;
  for (let size = NEWEST_ROWS; to > turn.row; size *= 2) {
    const from = Math.max(turn.row, to - size);
    const heads = session.rows.range(from, to - 1).map(headOf);
    const reply = heads.findLast(({ role }) => role === 'assistant');
    if (reply !== undefined) return Math.max(run.committed, reply.step ?? 0);
    to = heads.length === 0 ? turn.row : from;
  }
  return run.committed;
}

/** Resets the count of control messages if the log has expired. */
function recountControls(session: Session): void {
  const { existing: record } = session;
  if (record.sizes.controls > 0 && session.tree.log.count === 0) {
    record.sizes.controls = 0;
    record.turn.controls = 0;
  }
}

export type Rewind = {
  sessionId: string;
  /** The run that the requester expects to be the newest: of two concurrent requests, one is refused. */
  runId: string;
  /** The active run that the requester will stop next: it is `busy` only if nothing else is refused. */
  stops?: string | undefined;
  /** Random part of the new run's id. */
  nonce: string;
  /** The requester, for the record. */
  by?: string;
  /** The requester as a person, who is added to the askers and is the author of replacing messages. */
  asker?: KnownPerson;
  now: number;
  act?: Act;
} & (
  | {
      mode: 'retry';
      /** A message of the turn to repeat, the user's or the agent's. Default: the newest turn. */
      messageId?: string;
      /** Messages that replace that message, which must be a user's, and everything after it. */
      messages?: UserMessage[];
    }
  | { mode: 'from_checkpoint'; checkpointId: string }
);

export type RewindReply =
  | { kind: 'rewound'; run: Begun }
  | { kind: 'busy'; runId: string }
  /** Another run is the newest. */
  | { kind: 'stale_run'; runId: string }
  /** The id belongs to a message that stays, or was accepted with other content. */
  | { kind: 'conflict'; messageId: string }
  | Only<'not_found' | 'message_not_found' | 'checkpoint_not_found'>;

function messagesOf(input: Stored<Rewind>): readonly Message[] {
  return input.mode === 'retry' ? (input.messages ?? []) : [];
}

/**
 * Takes the session back to a checkpoint or to the beginning of a turn, and starts the run that continues from there.
 * Everything later is dropped: rows, checkpoints, changes of the state, log entries.
 *
 * In this order: the session exists · this nonce already started a run (same reply) · no run is active but the one to be
 * stopped · the expected run is the newest · the target exists · the replacing messages are new · the state of the target
 * is still stored · no run is active.
 */
export function rewind(session: Session, input: Stored<Rewind>): RewindReply {
  const { mode, nonce } = input;
  const checkpointId = mode === 'retry' ? undefined : input.checkpointId;
  const messageId = mode === 'retry' ? input.messageId : undefined;
  const messages = messagesOf(input);
  const { record } = session;
  if (record?.agent === undefined) return { kind: 'not_found' };
  const { run, tenant } = record;
  if (isOfNonce(run.id, nonce)) return { kind: 'rewound', run: newestRun(session) };
  const isBusy = !isTerminal(run.status);
  if (isBusy && input.stops !== run.id) return { kind: 'busy', runId: run.id };
  if (run.id !== input.runId) return { kind: 'stale_run', runId: run.id };
  const target = findTarget(session, { checkpointId, messageId, isEdited: messages.length > 0 });
  if (typeof target === 'string') return { kind: target };
  for (const { id } of messages)
    if (stays(session, id, target.rows)) return { kind: 'conflict', messageId: id };
  if (!isStateKept(session, target)) {
    return { kind: mode === 'retry' ? 'message_not_found' : 'checkpoint_not_found' };
  }
  if (isBusy) return { kind: 'busy', runId: run.id };
  const { log } = session.tree;
  const dropped = log.after(target.sequence, Infinity);
  record.sizes.controls -= countControls(dropped);
  log.remove(dropped);
  recountControls(session);
  session.runs.set(`rewind ${run.id}`, JSON.stringify({ n: run.n, row: target.turn.row, mode }));
  restoreState(session, target);
  dropRows(session, target.rows);
  record.checkpoints = target.checkpoints;
  const last = checkpointAt(session, target.checkpoints - 1);
  if (last === undefined) delete record.checkpoint;
  else record.checkpoint = { id: last.id, stateVersion: last.stateVersion, isOver: true };
  const runId = startAgain(session, input, target);
  noteAct(session, input.act, { outcome: 'begun', tenant, runId });
  return { kind: 'rewound', run: newestRun(session) };
}

function stays(session: Session, id: string, rows: number): boolean {
  if (acceptedHash(session, id) === undefined) return false;
  const row = session.messages.get(id)?.row;
  return row === undefined || row < rows;
}

/** Returns the state version at the first dropped step, or the current version if no step is dropped. */
function wantedVersion(session: Session, target: Target): number {
  return checkpointAt(session, target.checkpoints)?.stateVersion ?? session.existing.state.version;
}

/** Returns false if that state is no longer stored, since states of old turns are deleted. */
function isStateKept(session: Session, target: Target): boolean {
  const { state } = session.existing;
  const wanted = wantedVersion(session, target);
  return (
    wanted === 0 || wanted === state.version || state.kept.some(([version]) => version === wanted)
  );
}

/** Number of newest rows in which staged calls are looked up. */
const STAGED_ROWS = 200;

/**
 * Restores the state that the first dropped step began with, as a new version, and deletes the states that only dropped
 * steps used. Staged changes stay if the rows of their calls stay.
 */
function restoreState(session: Session, target: Target): void {
  const { state } = session.existing;
  const wanted = wantedVersion(session, target);
  if (wanted !== state.version) {
    const text = (wanted === 0 ? undefined : session.content.get(`v:${String(wanted)}`)) ?? '{}';
    addVersion(session, text);
  }
  const last = checkpointAt(session, target.checkpoints - 1)?.stateVersion ?? 0;
  dropStates(session, (version) => version > last && version !== state.version);
  const upTo = target.stateVersion === undefined ? target.turn.n - 1 : target.turn.n;
  state.turns = state.turns.filter(([n]) => n <= upTo);
  if (state.staged.length === 0) return;
  const rows =
    target.rows === 0
      ? []
      : session.rows.range(Math.max(0, target.rows - STAGED_ROWS), target.rows - 1);
  const calls = new Set(rows.map((row) => headOf(row).toolCallId));
  unstage(session, ({ call }) => !calls.has(call));
}

/** Of many dropped rows only the newest are forgotten by id. Others are recognised as dropped: their rows are gone. */
const FORGOTTEN_AT_ONCE = 300;

/** Drops all rows after the first ones, with what is stored under their ids. */
function dropRows(session: Session, keep: number): void {
  const { count } = session.rows;
  const from = Math.max(keep, count - FORGOTTEN_AT_ONCE);
  const rows = from < count ? session.rows.range(from, count - 1) : [];
  countDropped(session, ...rows);
  // The size of the other rows is unknown; a recount corrects it later.
  if (from > keep) session.existing.sizes.isComplete = false;
  for (const row of rows) {
    const { role, id, toolCallId } = headOf(row);
    if (role === 'user' && id !== undefined) session.messages.unset(id);
    if (role === 'tool' && toolCallId !== undefined) forgetResult(session, toolCallId);
  }
  session.rows.trim(keep);
}

/** Forgets a call: its large result, its waiting note, and the facts against which a late answer is checked. */
function forgetResult(session: Session, id: string): void {
  const { existing: record } = session;
  if (session.past.get(id) !== undefined) session.past.set(id, {});
  const notice = `late-${id}`;
  if (record.notices.includes(notice)) {
    record.notices = record.notices.filter((each) => each !== notice);
    session.content.unset(notice);
  }
  const { results } = session.tree.conversation;
  const result = results.get(id);
  if (result === undefined) return;
  countDropped(session, result);
  results.unset(id);
}

/** Stores the replacing messages, informs viewers and starts the run. @returns its id */
function startAgain(session: Session, input: Stored<Rewind>, target: Target): string {
  const { nonce, now, mode, by = '' } = input;
  const messages = messagesOf(input);
  const asker = toAsker(input, messages.length > 0);
  const { existing: record } = session;
  const { log } = session.tree;
  const { id, n } = nextRunId(session, nonce);
  const { turn, step } = target;
  const before = session.turns.get(turn.n)?.askers ?? [];
  const askers = messages.length > 0 ? joinAskers(asker, before) : joinAskers(before, asker);
  let visible = target.visible;
  if (messages.length > 0) visible = storeMessages(session, messages, visible, turn.n).visible;
  const author = authorOf(session, now, step);
  const isRetry = mode === 'retry';
  writeResync(session, author, isRetry ? 'retry' : 'rollback', { step });
  const sequence = log.sequence;
  if (!isRetry) writeResumed(session, author, { runId: id, step, mode });
  record.born = nonce;
  record.rewound = true;
  record.visible = visible;
  const messageId = isRetry ? formatReplyId(visible) : turn.messageId;
  const began = isRetry ? sequence : turn.sequence;
  record.turn = {
    n: turn.n,
    row: turn.row,
    sequence: began,
    messageId,
    hasReplied: target.hasReplied,
    askers,
    ...(target.stateVersion !== undefined && { stateVersion: target.stateVersion }),
  };
  session.turns.set(turn.n, { row: turn.row, sequence: began, messageId, askers, run: id });
  startRun(session, { id, n, mode, by, sequence, step }, now);
  return id;
}
