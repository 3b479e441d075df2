import type { BusyPolicy } from '../protocol/replies.js';
import { isOfNonce } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import { toPerson, type KnownPerson } from '../protocol/actor.js';
import { type RunProgress, isTerminal } from '../protocol/run.js';
import { claimFiles } from './files.js';
import { endingOfStop, finish } from './finish.js';
import type { CustomState, Message, Only, Stored, UserMessage } from './input.js';
import { accept, acceptedHash } from './messages.js';
import { abandon } from './pause.js';
import { popQueued, pushQueued, queuedBytes, type Queued } from './queue.js';
import { newRecord } from './record.js';
import { authorOf } from './chunks.js';
import { putState } from './state.js';
import { requestStop } from './stop.js';
import { joinAskers, makeTurn } from './turns.js';
import type { Session } from './tree.js';

export interface Begin {
  sessionId: string;
  agent: string;
  owner: string;
  tenant?: string;
  /** Random part of the new run's id. */
  nonce: string;
  messages: UserMessage[];
  /** Policy for the messages while a run is active or other messages wait. Default: they are refused. */
  policy?: BusyPolicy;
  /** The only run that the policy `interrupt` may stop. If another run is the newest, the policy is `reject`. */
  interrupts?: string;
  /** True if the messages do not abandon a run that waits for people; it counts as active. */
  keepsQuestions?: boolean;
  /** A run that ends as abandoned if it would ask people while these messages wait. */
  withdraws?: string;
  /** The sender, shown to readers of the queue. A sender other than the owner is the run's requester. */
  by?: string;
  /** The people who ask, the author first. Default: the requester of the run, or the owner. */
  askers?: readonly KnownPerson[];
  /** Replaces the agent's own state when the run begins; ignored if no run begins. */
  state?: CustomState;
  /** Set if the messages continue a turn after a run that has ended. */
  resumed?: { by?: string };
  /** Start time of the run, ms since the epoch; refused while another run is active or waits. */
  startAt?: number;
  now: number;
}

export interface Begun {
  sessionId: string;
  runId: string;
  agent: string;
  turn: number;
  messageId: string;
  /** Sequence before the turn's first chunk. */
  startSequence: number;
  startedAt: number;
  /** Progress of the turn before this run, if it continues a turn. */
  from?: RunProgress;
  /** The run that this one replaced by abandonment or interrupt; its workflow must be woken. */
  supersededRunId?: string;
}

export type BeginReply =
  | { kind: 'begun'; run: Begun }
  /** The messages are queued; their first entry comes after `sequence`. `begun`: a run was started for earlier ones. */
  | { kind: 'queued'; sequence: number; begun?: Begun }
  /** This run reads the messages in its next step; the reply begins after `sequence`. */
  | { kind: 'steered'; runId: string; sequence: number }
  /** This run was asked to stop; the messages are answered next. */
  | { kind: 'interrupting'; runId: string; sequence: number }
  /** `accepted`: all messages were accepted before. `foreign`: the session belongs to another owner. */
  | Only<'queue_full' | 'accepted' | 'busy' | 'foreign'>
  | { kind: 'conflict'; messageId: string }
  | { kind: 'agent_mismatch'; agent: string };

/**
 * Accepts user messages and starts a run for them. Only this change creates sessions. If a run is active, or other
 * messages wait, the policy decides whether the messages are refused, queued, steer the run or interrupt it. A run that
 * waits for people is abandoned, unless its questions are kept: its calls are settled, and the messages begin the next
 * run.
 *
 * In this order: owner, tenant and agent of the session · messages that were accepted before (same content: dropped;
 * other content: conflict) · the policy · the length of the queue.
 */
export function begin(session: Session, input: Stored<Begin>): BeginReply {
  const { agent, owner, tenant = '', now, by, resumed } = input;
  const sender = resumed?.by ?? by ?? owner;
  const askers = joinAskers(input.askers ?? [toPerson(sender, { tenantId: tenant })]);
  const { record } = session;
  const isNew = record?.agent === undefined;
  if (!isNew) {
    if (record.owner !== owner || record.tenant !== tenant) return { kind: 'foreign' };
    if (record.agent !== agent) return { kind: 'agent_mismatch', agent: record.agent ?? '' };
  }
  const fresh = freshOf(session, input.messages);
  if (!Array.isArray(fresh)) return fresh;
  if (fresh.length === 0) return { kind: 'accepted' };

  const { startAt = now, interrupts = record?.run.id, policy: wanted = 'reject' } = input;
  const policy = wanted === 'interrupt' && interrupts !== record?.run.id ? 'reject' : wanted;
  const isActive = !isNew && !isTerminal(record.run.status);
  const abandons = isActive && input.keepsQuestions !== true && asksPeople(session);
  const waiting = record?.queue.length ?? 0;
  if (startAt > now && (isActive || waiting > 0)) return { kind: 'busy' };
  if ((isActive && !abandons) || waiting > 0) {
    // A new message never overtakes waiting ones, whatever happens to the run.
    if (policy === 'reject' && !abandons) return { kind: 'busy' };
    const isFull = waiting >= LIMITS.queueEntries || queuedBytes(session) >= LIMITS.queueBytes;
    if (isFull) return { kind: 'queue_full' };
  }
  if (record === undefined) {
    session.record = newRecord(now);
    dropRest(session);
  }
  accept(session, fresh);
  const { log } = session.tree;
  const author = authorOf(session, now);
  const isQueued = policy === 'reject' || (policy === 'steer' && (!isActive || abandons));
  const entry: Queued = {
    mode: isQueued ? 'queue' : policy,
    messages: fresh,
    queuedAt: now,
    by,
    askers,
    ...(input.withdraws !== undefined && { withdraws: input.withdraws }),
  };
  const runId = record?.run.id ?? '';
  let superseded: string | undefined;
  if (abandons) {
    superseded = runId;
    abandon(session, now);
  } else if (isActive && policy === 'interrupt') {
    const request = { mode: 'interrupt', reason: 'new_message', by } as const;
    const { stop, isStepRunning } = requestStop(session, request);
    if (isStepRunning) {
      pushQueued(session, author, entry);
      return { kind: 'interrupting', runId, sequence: log.sequence };
    }
    superseded = runId;
    finish(session, author, endingOfStop(stop));
  } else if (isActive) {
    pushQueued(session, author, entry);
    const { sequence } = log;
    return policy === 'steer' ? { kind: 'steered', runId, sequence } : { kind: 'queued', sequence };
  }
  if (waiting > 0 && policy !== 'interrupt') {
    pushQueued(session, author, entry);
    const { sequence } = log;
    answerQueued(session, input);
    return { kind: 'queued', sequence, begun: newestRun(session, superseded) };
  }
  if (isNew) {
    const { existing } = session;
    Object.assign(existing, { agent, owner, tenant, created: now, born: input.nonce });
    existing.sizes.isComplete = true;
    claimFiles(session);
  }
  if (input.state !== undefined) putState(session, input.state);
  makeTurn(session, {
    nonce: input.nonce,
    now,
    messages: fresh,
    waited: false,
    mode: resumed === undefined ? 'new' : 'with_message',
    by: resumed?.by ?? otherRequester(by, owner),
    askers,
  });
  if (startAt > now) session.existing.run.waitsUntil = startAt;
  return { kind: 'begun', run: newestRun(session, superseded) };
}

/** Returns true if the newest run waits for people. */
function asksPeople(session: Session): boolean {
  const isPaused = session.existing.stream === 'paused';
  return isPaused && session.openCalls().some(({ state }) => state !== 'settled');
}

/**
 * Returns the messages that were not accepted before. A hidden message belongs to the next visible one: if that one is
 * new, the hidden one may be new too.
 */
function freshOf(
  session: Session,
  messages: readonly Message[],
): Message[] | { kind: 'conflict'; messageId: string } {
  const fresh: Message[] = [];
  let hidden: Message[] = [];
  for (const message of messages) {
    const known = acceptedHash(session, message.id);
    if (known !== undefined && known !== message.hash)
      return { kind: 'conflict', messageId: message.id };
    if (known !== undefined) {
      if (!message.hidden) hidden = [];
    } else if (message.hidden) {
      hidden.push(message);
    } else {
      fresh.push(...hidden, message);
      hidden = [];
    }
  }
  return [...fresh, ...hidden];
}

/** Returns the requester of a run, or '' if it is the session's owner. */
function otherRequester(by: string | undefined, owner: string): string {
  return by === undefined || by === owner ? '' : by;
}

/** Drops the remains of a conversation whose record Redis has lost, since they may belong to another person. */
function dropRest({ tree, rows, writers, index, content, runs, children, results }: Session): void {
  if (rows.count === 0 && tree.log.count === 0) return;
  for (const fields of [writers, index, content, runs, children, results]) fields.drop();
  rows.trim(0);
  tree.log.drop();
  tree.write('drop', 'pages', '');
}

export function newestRun(session: Session, supersededRunId?: string): Begun {
  const { agent = '', run, turn } = session.existing;
  return {
    sessionId: session.id,
    runId: run.id,
    agent,
    turn: turn.n,
    messageId: turn.messageId,
    startSequence: turn.sequence,
    startedAt: run.started,
    ...(run.fromStep > 0 && { from: { step: run.fromStep, known: run.sequence } }),
    ...(supersededRunId !== undefined && { supersededRunId }),
  };
}

export interface BeginQueued {
  sessionId: string;
  /** Random part of the new run's id. */
  nonce: string;
  now: number;
}

/** `busy`: a run is active; when it ends, the queue is read again. */
export type BeginQueuedReply =
  { kind: 'begun'; run: Begun; tenant?: string } | Only<'busy' | 'empty'>;

export function beginQueued(
  session: Session,
  { nonce, now }: Stored<BeginQueued>,
): BeginQueuedReply {
  const { record } = session;
  if (record === undefined) return { kind: 'empty' };
  const { tenant, run } = record;
  if (!isOfNonce(run.id, nonce)) {
    if (!isTerminal(run.status)) return { kind: 'busy' };
    if (record.queue.length === 0) return { kind: 'empty' };
    answerQueued(session, { nonce, now });
    session.tree.emit({ kind: 'charge_changed' });
  }
  return { kind: 'begun', run: newestRun(session), ...(tenant !== '' && { tenant }) };
}

/** Makes a turn of the messages that have waited longest. */
function answerQueued(session: Session, { nonce, now }: { nonce: string; now: number }): void {
  const { messages, askers, ...entry } = popQueued(session);
  const by = otherRequester(entry.by, session.existing.owner);
  makeTurn(session, { nonce, now, messages, askers, waited: true, mode: 'new', by });
}
