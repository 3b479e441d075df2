import type { KnownPerson } from '../protocol/responder.js';
import type { RunMode, StopRequest } from '../protocol/run.js';
import { claimFiles } from './files.js';
import { finish } from './finish.js';
import { accept, isDropped, readAccepted, type Message } from './messages.js';
import { popQueued, pushQueued, queuedBytes, type Queued } from './queue.js';
import { newRecord, isLive } from './record.js';
import { speakerOf } from './say.js';
import { putState } from './state.js';
import { endingOfStop, requestStop } from './stop.js';
import { makeTurn, type NewTurn } from './turns.js';
import type { Session } from './tree.js';

export interface Begin {
  agent: string;
  owner: string;
  tenant: string;
  /** Random part of the new run's id. */
  nonce: string;
  now: number;
  /** Entries that the log may have before old turns are trimmed; 0: no limit. */
  cap: number;
  policy: 'reject' | 'queue' | 'steer' | 'interrupt';
  /** The only run that an interrupt may stop. */
  interrupts?: string;
  /** A run that waits for people is not abandoned; it is active like any other. */
  keepsQuestions?: boolean;
  mostQueued: number;
  mostQueuedBytes: number;
  /** What an interrupt leaves. */
  stop: StopRequest;
  /** The sender. */
  by?: string;
  /** Who asks by the messages. */
  askers: readonly KnownPerson[];
  messages: readonly Message[];
  /** The agent's own state from the start of the run, as JSON; ignored for messages that are queued. */
  state?: string;
  mode: RunMode;
  resumedBy?: string;
  /** The run waits for this time. */
  startAt?: number;
}

/** A run as those are told who began it. */
export interface Begun {
  sessionId: string;
  runId: string;
  agent: string;
  turn: number;
  messageId: string;
  startSequence: number;
  startedAt: number;
  from?: { step: number; known: number };
  supersededRunId?: string;
}

export type BeginReply =
  | { kind: 'begun'; run: Begun }
  | { kind: 'queued'; sequence: number; begun?: Begun }
  | { kind: 'steered' | 'interrupting'; runId: string; sequence: number }
  | { kind: 'queue_full' | 'accepted' | 'busy' | 'foreign' }
  | { kind: 'conflict'; messageId: string }
  | { kind: 'agent_mismatch'; agent: string };

/**
 * Accepts user messages and starts a run for them; the only change that creates a session. If a run is active, or other
 * messages wait, the policy decides whether the messages are refused, queued, steer the run or interrupt it. A run
 * that waits for people is abandoned, unless its questions are kept: its calls are settled, and the messages begin
 * the next run.
 *
 * In this order: whose session it is, and whose agent · messages that were accepted before (same content: dropped;
 * other content: conflict) · the policy · the length of the queue.
 */
export function begin(session: Session, input: Begin): BeginReply {
  const { agent, owner, tenant, now } = input;
  const { record } = session;
  const isNew = record?.agent === undefined;
  if (!isNew) {
    if (record.owner !== owner || record.tenant !== tenant) return { kind: 'foreign' };
    if (record.agent !== agent) return { kind: 'agent_mismatch', agent: record.agent ?? '' };
  }
  const fresh = freshOf(session, input.messages);
  if (!Array.isArray(fresh)) return fresh;
  if (fresh.length === 0) return { kind: 'accepted' };

  const isLater = input.startAt !== undefined && input.startAt > now;
  const isActive = !isNew && isLive(record.run.status);
  const isPaused = record?.stream === 'paused';
  const abandons =
    isActive &&
    input.keepsQuestions !== true &&
    isPaused &&
    session.openCalls().some(({ state }) => state !== 'settled');
  const isOther = input.interrupts !== undefined && input.interrupts !== record?.run.id;
  const policy = input.policy === 'interrupt' && isOther ? 'reject' : input.policy;
  const waiting = record?.queue.length ?? 0;
  if (isLater && (isActive || waiting > 0)) return { kind: 'busy' };
  if ((isActive && !abandons) || waiting > 0) {
    // A new message never overtakes waiting ones, whatever happens to the run.
    if (policy === 'reject' && !abandons) return { kind: 'busy' };
    if (waiting >= input.mostQueued || queuedBytes(session) >= input.mostQueuedBytes)
      return { kind: 'queue_full' };
  }
  if (record === undefined) session.record = newRecord(now);
  accept(session, fresh);
  const { log } = session.tree;
  const speaker = speakerOf(session, now);
  const isQueued = policy === 'reject' || (policy === 'steer' && (!isActive || abandons));
  const entry: Queued = {
    mode: isQueued ? 'queue' : policy,
    messages: fresh,
    queuedAt: now,
    by: input.by,
    askers: input.askers,
  };
  const runId = record?.run.id ?? '';
  let superseded: string | undefined;
  if (abandons) {
    // Results already given are kept, all other calls are settled as abandoned; the new message follows.
    superseded = runId;
    finish(session, speaker, {
      status: 'interrupted',
      reason: 'abandoned',
      code: 'client_tool_abandoned',
    });
  } else if (isActive && policy === 'interrupt') {
    const { stop, isSpeaking } = requestStop(session, input.stop);
    if (isSpeaking) {
      pushQueued(session, speaker, entry);
      return { kind: 'interrupting', runId, sequence: log.sequence };
    }
    superseded = runId;
    finish(session, speaker, endingOfStop(stop));
  } else if (isActive) {
    pushQueued(session, speaker, entry);
    const { sequence } = log;
    return policy === 'steer' ? { kind: 'steered', runId, sequence } : { kind: 'queued', sequence };
  }
  const made: NewTurn = {
    nonce: input.nonce,
    now,
    cap: input.cap,
    messages: fresh,
    waited: false,
    mode: input.mode,
    by: input.resumedBy ?? strangerOf(input.by, owner),
    askers: input.askers,
  };
  if (waiting > 0 && policy !== 'interrupt') {
    pushQueued(session, speaker, entry);
    const { sequence } = log;
    const first = popQueued(session);
    const { messages, askers } = first;
    makeTurn(session, {
      ...made,
      messages,
      askers,
      by: strangerOf(first.by, owner),
      waited: true,
      mode: 'new',
    });
    return { kind: 'queued', sequence, begun: newestRun(session, superseded) };
  }
  if (isNew) create(session, input);
  if (input.state !== undefined) putState(session, input.state);
  makeTurn(session, made);
  if (isLater && input.startAt !== undefined) session.existing.run.waitsUntil = input.startAt;
  return { kind: 'begun', run: newestRun(session, superseded) };
}

/**
 * The messages that were not accepted before. A hidden message belongs to the next visible one: if that one is new,
 * the hidden one may be new too.
 */
function freshOf(
  session: Session,
  messages: readonly Message[],
): Message[] | { kind: 'conflict'; messageId: string } {
  const fresh: Message[] = [];
  let hidden: Message[] = [];
  for (const message of messages) {
    const accepted = readAccepted(session, message.id);
    const isKnown = accepted !== undefined && !isDropped(session, message.id, accepted);
    if (isKnown && accepted.hash !== message.hash)
      return { kind: 'conflict', messageId: message.id };
    if (isKnown) {
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

/** Who has asked for a run, if that is not the owner of its session. */
function strangerOf(by: string | undefined, owner: string): string {
  return by === undefined || by === owner ? '' : by;
}

function create(session: Session, { agent, owner, tenant, nonce, now }: Begin): void {
  const { existing: record } = session;
  Object.assign(record, { agent, owner, tenant, created: now, born: nonce });
  record.sizes.isComplete = true;
  claimFiles(session);
}

/** The session's newest run. */
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
  nonce: string;
  now: number;
  cap: number;
}

/** Starts a run for the messages that have waited longest. */
export function beginQueued(
  session: Session,
  { nonce, now, cap }: BeginQueued,
): { kind: 'begun'; run: Begun; tenant?: string } | { kind: 'busy' | 'empty' } {
  const { record } = session;
  if (record === undefined) return { kind: 'empty' };
  const { tenant, run } = record;
  const begun = (): { kind: 'begun'; run: Begun; tenant?: string } => ({
    kind: 'begun',
    run: newestRun(session),
    ...(tenant !== '' && { tenant }),
  });
  if (run.id.endsWith(`-${nonce}`)) return begun();
  if (isLive(run.status)) return { kind: 'busy' };
  if (record.queue.length === 0) return { kind: 'empty' };
  const { messages, askers, ...entry } = popQueued(session);
  const by = strangerOf(entry.by, record.owner);
  makeTurn(session, { nonce, now, cap, messages, askers, waited: true, mode: 'new', by });
  session.tree.tell({ kind: 'charge_changed' });
  return begun();
}
