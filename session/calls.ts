import { LIMITS } from '../protocol/limits.js';
import type { KnownPerson } from '../protocol/actor.js';
import type { Decision } from '../protocol/rows.js';
import {
  Json,
  type Act,
  type AttemptBudget,
  type CallSpec,
  type Only,
  type StateChanges,
  type Stored,
  type StoredCall,
  type Writer,
  type WriterInput,
} from './input.js';
import { restIfWaiting } from './pause.js';
import { dropWake, type Call } from './record.js';
import { authorOf } from './chunks.js';
import { ofCall, settleByCode, settleRow, setBusy } from './settling.js';
import { stageChanges } from './state.js';
import { noteAct } from './acts.js';
import type { Session } from './tree.js';
import { noteDeadline } from './waiting.js';
import { countLost, isActive, isExhausted, own, owns, writeResync, withdraw } from './writers.js';

export function openCalls(session: Session, calls: readonly StoredCall[]): void {
  if (calls.length === 0) return;
  const { run } = session.existing;
  for (const { id, name, kind, spec, row, automatic, ask, part, child, brief, ...rest } of calls) {
    const isServers = kind === 'server' || kind === 'subagent';
    const call: Call = {
      id,
      name,
      kind,
      state: isServers ? 'open' : 'waiting',
      n: 0,
      ...(rest.idempotent === true && { isIdempotent: true }),
      ...(rest.guarded === true && { isGuarded: true }),
      ...(rest.deadlineMs !== undefined && { waitMs: rest.deadlineMs }),
      ...(!isServers && { since: session.tree.now }),
      ...(automatic !== undefined && { isAutomatic: true }),
      ...(child !== undefined && { child }),
    };
    session.calls.set(id, call);
    session.content.set(ofCall('spec', id), spec);
    if (automatic !== undefined) session.content.set(ofCall('automatic', id), automatic);
    if (brief !== undefined) session.content.set(ofCall('brief', id), brief);
    if (ask !== undefined && part !== undefined && row === undefined) {
      call.isHeld = true;
      session.content.set(ofCall('ask', id), ask);
      session.content.set(ofCall('part', id), part);
    }
    if (row !== undefined) settleRow(session, call, row);
    else if (isServers) setBusy(session, call, true);
    // A sub-agent's call is found by its id at the conversation.
    const { index } = session.tree.conversation;
    if (!session.isConversation && index.get(`o:${id}`)?.split(' ')[0] !== session.part)
      index.set(`o:${id}`, session.part);
  }
  session.order = [...session.order, ...calls.map(({ id }) => id)];
  run.calls += calls.length;
}

/** Answers are addressed to the conversation; the session that made the call may be a sub-agent's. */
export function ownerOf(session: Session, id: string): Session {
  if (session.calls.get(id) !== undefined || session.past.get(id) !== undefined) return session;
  const part = session.tree.conversation.index.get(`o:${id}`)?.split(' ')[0];
  return part === undefined ? session : session.tree.session(part);
}

export function isSettled({ calls, past }: Session, id: string): boolean {
  const call = calls.get(id);
  return call === undefined ? past.get(id) !== undefined : call.state === 'settled';
}

export interface StartCall {
  writer: Writer;
  toolCallId: string;
  now: number;
  /** Limit on lost executions of an idempotent tool. Default: five within an hour. */
  budget?: AttemptBudget;
  /** The tool can find out whether a lost execution took effect. Default: false. */
  canVerify?: boolean;
  /** The tool's finding if it found no result; sent by the attempt that was asked to `verify`. */
  verified?: 'not_done' | 'unknown';
  /** Secret for the address of the tool's webhook; ignored if an earlier attempt has set one. */
  hook?: string;
}

export interface Permission {
  /** `verify`: an execution was lost, so the tool must be asked about it first. */
  kind: 'execute' | 'verify';
  call: Json<CallSpec>;
  execution: number;
  decision?: Json<Decision>;
  /** The person who approved it, if verified. */
  approver?: Json<KnownPerson>;
  /** The author of the messages of the conversation's turn. */
  requester?: KnownPerson;
  /** Step of the conversation that shows a sub-agent's call. */
  shownIn?: number;
  /** Secret in the address of its webhook. */
  hook?: string;
}

/** `refused`: the call is not approved, or does not belong to this run · `suspended`: it waits for its webhook. */
export type NotStarted = Only<
  'settled' | 'superseded' | 'stopped' | 'fenced' | 'refused' | 'suspended'
>;

/**
 * Grants permission to execute a tool. A call that was started before is executed again only if the
 * tool is idempotent and its budget of attempts is not used up. Another tool that can verify is
 * asked first: the attempt owns the call then, and requests permission once more with the answer.
 * Otherwise the call is settled as `tool_outcome_unknown`, and one whose input is gone as `tool_call_lost`.
 *
 * In this order: the call is settled · the run is the newest and active · stop · fence · kind and
 * state of the call · an approved call was released · idempotence and budget.
 */
export function startCall(session: Session, input: Stored<StartCall>): Permission | NotStarted {
  const { writer: by, toolCallId: id, now, budget = LIMITS.attempts } = input;
  const { name, token, agentType, step } = by;
  const call = session.calls.get(id);
  const refused = refusalOfStart(session, by, id);
  if (refused !== undefined || call === undefined) return { kind: refused ?? 'refused' };
  const { run } = session.existing;
  const { state } = call;
  const writer = session.writer(name);
  const isNew = (writer?.token ?? 0) < token;
  const isSafe = call.isIdempotent === true;
  const isAsked = !isNew && call.isUnsure === true;
  const isRepeat = state === 'started' && isNew;
  const spec = session.content.get(ofCall('spec', id));
  if (spec === undefined || isRepeat || (isAsked && input.verified === 'unknown')) {
    const author = { ...authorOf(session, now, step), agentType };
    const before = isNew ? writer : undefined;
    const mayRepeat = spec !== undefined && isRepeat && (isSafe || input.canVerify === true);
    if (!mayRepeat || (before !== undefined && isExhausted(session, before, budget))) {
      const code = state === 'started' ? 'tool_outcome_unknown' : 'tool_call_lost';
      settleByCode(session, author, call, code);
      // The lost attempt may still be alive and must not write.
      session.dropWriter(name);
      restIfWaiting(session, now);
      session.tree.emit({ kind: 'work_over' });
      return { kind: 'settled' };
    }
    const { removed } = withdraw(session, name);
    if (before !== undefined) countLost(session, name, budget);
    if (removed) writeResync(session, author, 'crash_recovery', { toolCallId: id });
  }
  if (isRepeat ? !isSafe : isAsked && input.verified !== 'not_done') call.isUnsure = true;
  else delete call.isUnsure;
  if (isNew) {
    own(session, name, token);
    call.state = 'started';
    call.n += 1;
    if (input.hook !== undefined) call.hook ??= input.hook;
    session.existing.updated = now;
    // A start of a call that was released before does not show that the newest signal has arrived.
    if (state === 'approved' && call.release === run.releases) {
      run.isTaken = true;
      dropWake(session.tree.conversation.existing, session.part);
    }
  }
  return toPermission(session, call, spec);
}

function refusalOfStart(session: Session, { runId, name, token }: WriterInput, id: string) {
  const call = session.calls.get(id);
  const isOver = isSettled(session, id);
  if (isOver || !isActive(session, runId)) {
    session.tree.emit({ kind: 'work_over' });
    return isOver ? 'settled' : 'superseded';
  }
  if (session.existing.run.stop !== undefined) return 'stopped';
  if ((session.writer(name)?.token ?? 0) > token) return 'fenced';
  if (call === undefined || call.kind === 'subagent' || call.state === 'waiting') return 'refused';
  if (call.state === 'suspended') return 'suspended';
  // The last answer of a batch releases the approved calls; until then the run stays paused.
  return call.state === 'approved' && call.isBusy !== true ? 'refused' : undefined;
}

function toPermission(session: Session, call: Call, spec: string): Permission {
  const { id, hook, asked } = call;
  const { turn, run } = session.tree.conversation.existing;
  const isShownAbove = !session.isConversation && asked !== undefined;
  const [requester] = turn.askers;
  const decision = call.hasDecision && session.content.get(ofCall('decision', id));
  const approver = call.hasDecision && session.content.get(ofCall('approver', id));
  return {
    kind: call.isUnsure === true ? 'verify' : 'execute',
    execution: call.n,
    ...(isShownAbove && { shownIn: run.committed }),
    ...(requester !== undefined && { requester }),
    ...(hook !== undefined && { hook }),
    call: new Json(spec),
    ...(decision && { decision: new Json<Decision>(decision) }),
    ...(approver && { approver: new Json<KnownPerson>(approver) }),
  };
}

export interface SuspendCall {
  writer: Writer;
  toolCallId: string;
  now: number;
  changes?: StateChanges;
}

export type SuspendReply = Only<'suspended' | 'superseded' | 'stopped' | 'fenced'>;

/** Lets a call wait, without a process, for its webhook, whose body becomes the result. */
export function suspendCall(
  session: Session,
  { writer, toolCallId: id, now, changes }: Stored<SuspendCall>,
): SuspendReply {
  const call = session.calls.get(id);
  if (call?.state === 'suspended') return { kind: 'suspended' };
  if (call === undefined || call.state === 'settled' || !isActive(session, writer.runId))
    return { kind: 'superseded' };
  if (session.existing.run.stop !== undefined) return { kind: 'stopped' };
  if (!owns(session, writer) || call.state !== 'started') return { kind: 'fenced' };
  if (changes !== undefined) stageChanges(session, `s${String(writer.step)}`, id, changes);
  call.state = 'suspended';
  if (call.waitMs !== undefined) call.deadline = session.tree.now + call.waitMs;
  setBusy(session, call, false);
  session.existing.updated = now;
  if (!restIfWaiting(session, now)) noteDeadline(session.tree.conversation);
  return { kind: 'suspended' };
}

export interface ExtendDeadline {
  sessionId: string;
  /** The run that asked. */
  runId: string;
  toolCallId: string;
  byMs: number;
  /** The deadline that the requester has seen: a repeated request does not add the time twice. */
  deadline: number;
  now: number;
  act?: Act;
}

export type ExtendDeadlineReply =
  /** `deadline`: ms since the epoch by the store's clock. */
  | { kind: 'extended'; deadline: number; dueInMs: number }
  | Only<'expired' | 'already_completed' | 'not_pending' | 'stale_run'>
  /** The call has no deadline, or its clock has not started. */
  | { kind: 'no_deadline' }
  /** Further ahead than LIMITS.deadlineAheadMs. */
  | { kind: 'too_far' };

/**
 * Gives people more time to answer a call.
 *
 * In this order: the call has timed out · it is settled · people answer calls of this kind · its run is the newest and
 * active · the call is waiting · it has a deadline, which has not passed · the new deadline is not too far ahead.
 */
export function extendDeadline(
  requested: Session,
  { runId, toolCallId: id, deadline: seen, byMs, now, act }: Stored<ExtendDeadline>,
): ExtendDeadlineReply {
  const session = ownerOf(requested, id);
  const call = session.calls.get(id);
  const past = session.past.get(id);
  if (call?.isLate === true || past?.kind !== undefined) return { kind: 'expired' };
  if (call?.state === 'settled' || past !== undefined) return { kind: 'already_completed' };
  if (call?.kind !== 'approval' && call?.kind !== 'client') return { kind: 'not_pending' };
  if (!isActive(session, runId)) return { kind: 'stale_run' };
  if (call.state !== 'waiting') return { kind: 'already_completed' };
  if (call.deadline === undefined) return { kind: 'no_deadline' };
  const { now: clock, conversation } = session.tree;
  if (clock >= call.deadline) return { kind: 'expired' };
  const deadline = Math.max(call.deadline, seen + byMs);
  if (deadline > clock + LIMITS.deadlineAheadMs) return { kind: 'too_far' };
  call.deadline = deadline;
  session.existing.updated = now;
  conversation.existing.updated = now;
  noteDeadline(conversation);
  noteAct(session, act, { outcome: 'extended', tenant: session.existing.tenant });
  return { kind: 'extended', deadline, dueInMs: deadline - clock };
}

export interface LeaseCall {
  sessionId: string;
  /** The run that asked. */
  runId: string;
  toolCallId: string;
  /** Id of the page that wants to carry the call out. */
  holder: string;
  forMs: number;
}

export type LeaseCallReply =
  | Only<'leased' | 'already_completed' | 'not_pending' | 'stale_run' | 'kind_mismatch'>
  /** Another page holds the lease for at most this long. */
  | { kind: 'held'; forMs: number };

/** Reserves a client tool's call for one of several pages for a while. Answers are accepted from any page. */
export function leaseCall(
  requested: Session,
  { runId, toolCallId: id, holder, forMs }: Stored<LeaseCall>,
): LeaseCallReply {
  const session = ownerOf(requested, id);
  const call = session.calls.get(id);
  if (isSettled(session, id)) return { kind: 'already_completed' };
  if (call === undefined) return { kind: 'not_pending' };
  if (!isActive(session, runId)) return { kind: 'stale_run' };
  if (call.kind !== 'client') return { kind: 'kind_mismatch' };
  if (call.state !== 'waiting') return { kind: 'not_pending' };
  const { now } = session.tree;
  const left = (call.lease?.until ?? 0) - now;
  if (left > 0 && call.lease?.holder !== holder) return { kind: 'held', forMs: left };
  call.lease = { until: now + forMs, holder };
  return { kind: 'leased' };
}

export interface TakeCallId {
  sessionId: string;
  /** The run whose step makes the call. */
  runId: string;
  /** Identifies the call within its session; the same call always gets the same id. */
  call: string;
  wanted: string;
}

export type TakeCallIdReply = { kind: 'taken'; id: string } | { kind: 'superseded' };

/** Gives a call an id that is unique in the conversation: the wanted one, or that with `_<n>`. */
export function takeCallId(
  session: Session,
  { runId, call, wanted }: Stored<TakeCallId>,
): TakeCallIdReply {
  if (!isActive(session, runId)) return { kind: 'superseded' };
  const { conversation } = session.tree;
  const mine = `${session.part} ${call}`;
  const isFree = (id: string): boolean => {
    const owner = conversation.index.get(`o:${id}`);
    if (owner !== undefined) return owner === mine;
    return conversation.calls.get(id) === undefined && conversation.past.get(id) === undefined;
  };
  let id = isFree(wanted) ? wanted : undefined;
  // Many sub-agents may have got the same id from their models, so several names are looked up at once.
  for (let first = 1, max = 4; id === undefined; first += max, max *= 2) {
    const names = Array.from({ length: max }, (_, n) => `${wanted}_${String(first + n)}`);
    id = names[names.map(isFree).indexOf(true)];
  }
  // Ids of the conversation's own calls are found in its calls once they are committed.
  if (!session.isConversation) conversation.index.set(`o:${id}`, mine);
  return { kind: 'taken', id };
}
