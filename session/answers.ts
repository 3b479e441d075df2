import type { AnswerFacts } from './events.js';
import type { Act, CallEdit, Only, StateChanges, Stored, Writer } from './input.js';
import type { StreamMessage } from '../protocol/chunk.js';
import type { KnownPerson } from '../protocol/actor.js';
import type { Decision, ToolRow } from '../protocol/rows.js';
import { finish } from './finish.js';
import { headOf, keepResult } from './messages.js';
import { restIfWaiting } from './pause.js';
import { isSettled, ownerOf } from './calls.js';
import type { Call } from './record.js';
import { atAfter } from './next.js';
import { isTerminal, type At } from '../protocol/run.js';
import { continueAlone, isLastToAsk, resumeIfAnswered, type Resumed } from './unpause.js';
import { authorOf } from './chunks.js';
import { ofCall, settleRow, emitWaitEnd, withEvents } from './settling.js';
import { stageChanges } from './state.js';
import { keepOutput } from './steps.js';
import { noteAct } from './acts.js';
import type { Session } from './tree.js';
import { noteDeadline } from './waiting.js';
import { isActive, owns } from './writers.js';

interface Settling {
  toolCallId: string;
  row: ToolRow;
  chunks: StreamMessage[];
  now: number;
}

interface SettlingFor extends Settling {
  sessionId: string;
  agentType: string;
  runId: string;
  act?: Act;
}

interface PersonsAnswer {
  /** Number of the edit that was shown, 0 for none. The answer is refused if the call has another edit by now. */
  shownEdit?: number;
  /**
   * True if the answer was checked while the call waited and the call's `approvers` accept its author. Otherwise it is
   * refused. After the timeout, only calls with `approvers` need it.
   */
  permitted?: boolean;
}

export type SettleCall =
  | (Settling & {
      source: 'tool';
      writer: Writer;
      /** Changes of the agent's own state, staged with the result. */
      changes?: StateChanges;
      /** True if the call emitted events; its row keeps them. */
      hasEvents?: boolean;
      /** Result of the run, if this call ends it. */
      output?: unknown;
    })
  /** Result of the sub-agent that carried the call out. */
  | (Omit<SettlingFor, 'act'> & { source: 'child' })
  | (SettlingFor & { source: 'webhook'; secret: string })
  | (Omit<SettlingFor, 'row'> &
      PersonsAnswer & {
        source: 'approval';
        decision: Decision;
        /** The verified approver. The tool gets it; no row contains it. */
        approver?: KnownPerson | undefined;
        /** A changed input that waits for another person. Nothing is decided yet. */
        edit?: CallEdit;
        /** Present if the call was denied. */
        row?: ToolRow;
      })
  /** A client's result or error. An approval accepts only an error; its call is then not executed. */
  | (SettlingFor &
      PersonsAnswer & {
        source: 'client';
        /** Text for the model, if it already got the timeout as the result. */
        late?: string;
      })
  /** No answer came before the deadline by the store's clock. */
  | (Omit<SettlingFor, 'row'> & {
      source: 'expiry';
      /** The decision that the tool declares for an expired approval. */
      decision?: Decision;
      /** Absent if the decision approves. */
      row?: ToolRow;
    });

type Source = SettleCall['source'];

/** An answer of any source in stored form, with the facts that decide about it. */
export type StoredAnswer = Pick<Settling, 'toolCallId' | 'now'> & {
  source: Source;
  runId: string;
  chunks: readonly string[];
  isError: boolean;
  isApproved: boolean;
  /** The row's output, if it is stored separately. */
  result?: string | undefined;
  /** Facts about the answer of a person, a client or, after the deadline, the tool's rule. */
  answer?: AnswerFacts | undefined;
} & Partial<AllOf<Stored<SettleCall>>>;

/** The fields of all variants. */
type AllOf<Variants> = {
  [
    Name in Exclude<
      Variants extends unknown ? keyof Variants : never,
      'source' | 'runId' | 'chunks' | 'toolCallId' | 'now'
    >
  ]: Variants extends unknown ? (Name extends keyof Variants ? Variants[Name] : never) : never;
};

type Refusal =
  | 'already_completed'
  | 'not_pending'
  | 'stale_run'
  | 'kind_mismatch'
  /** The call demands another approver. */
  | 'not_allowed'
  | 'expired'
  | 'fenced';

export type SettleReply =
  /**
   * Stored. After the last awaited answer, `resume` is what the asking run continues with, and
   * `others` are further runs of the conversation that continue. `at` is what the asking run does next.
   */
  | ({ kind: 'stored'; sequence: number; at?: At } & Resumed)
  /** The changed input is stored, and the call waits for another person. */
  | { kind: 'edited'; sequence: number }
  /** A client's answer after the model got the timeout. The model is informed once. */
  | Only<'late' | Refusal>
  /** The deadline has not passed yet, or the call has none; a webhook is called before its tool waits. */
  | { kind: 'not_due'; dueInMs?: number };

/**
 * Stores the one result of a call, or a person's decision about it. The first one wins. Answers of
 * people are addressed to the conversation, whichever of its agents asked. The answer that
 * completes a batch also makes run and stream active again.
 *
 * In this order: a late answer to a call of an earlier step · an approval that timed out · the call is settled · it
 * exists · its run is the newest and active · people were already asked · the source may settle it: fence for a tool,
 * kind, permission and deadline for a person · the input is the one that the person was shown.
 */
export function settleCall(requested: Session, input: StoredAnswer): SettleReply {
  const { source, toolCallId: id, runId, now, writer } = input;
  const session = ownerOf(requested, id);
  const { log } = session.tree;
  // The attempt's work is over even if the call was settled before.
  if (source === 'tool' || source === 'child') session.tree.emit({ kind: 'work_over' });
  const call = session.calls.get(id);
  const isPersons = source === 'approval' || source === 'client';
  let over: ReturnType<typeof refusalOfWebhook> | ReturnType<typeof takeLate>;
  if (source === 'webhook') over = refusalOfWebhook(session, call, input);
  else if (isPersons) over = takeLate(session, call, input);
  if (over !== undefined) return { kind: over };
  const isLate = source === 'client' && call?.kind === 'client' && call.isLate === true;
  if (!isLate && isSettled(session, id)) {
    // The attempt that settled the call gets the same reply again: its connection may have dropped.
    if (owns(session, writer)) return { kind: 'stored', sequence: log.sequence };
    return { kind: 'already_completed' };
  }
  if (call === undefined) return { kind: 'not_pending' };
  if (!isActive(session, runId)) return { kind: 'stale_run' };
  // People have not been asked yet.
  if (source !== 'tool' && call.isHeld === true) return { kind: 'not_pending' };
  const refusal = refusalOf(session, input, call, isLate);
  if (refusal !== undefined) return refusal;
  // Another person has changed the input since it was shown.
  if (isPersons && (call.edits ?? 0) !== (input.shownEdit ?? 0)) return { kind: 'not_pending' };
  if (input.edit !== undefined) {
    session.content.set(ofCall('edit', id), input.edit);
    call.edits = (call.edits ?? 0) + 1;
    noteAct(session, input.act, { outcome: 'edited' });
    session.tree.emit({ kind: 'charge_changed' });
    return { kind: 'edited', sequence: log.sequence };
  }

  const isHook = call.state === 'suspended';
  if (source === 'expiry' && !isHook) call.isLate = true;
  if (source === 'webhook') call.isCalled = true;
  if (source === 'child') endLostChild(session, call, now);
  session.tree.emit({ kind: 'charge_changed', isSize: source === 'tool' });
  if (source !== 'tool' && source !== 'child' && !isHook)
    emitWaitEnd(session, call, source === 'expiry' ? 'expired' : 'answered', input.answer);
  for (const chunk of input.chunks) log.add(chunk, source === 'tool' ? writer?.name : '');
  keep(session, call, input);
  noteAct(session, input.act, { outcome: 'stored' });
  if (source === 'client') delete call.isLate;
  const resumed = isLate ? {} : continueConversation(session, source, now, isHook);
  const at = atAfter(session, runId, { lists: source !== 'tool' });
  return { kind: 'stored', sequence: log.sequence, at, ...resumed };
}

/** Refuses a webhook whose address was never given out, or whose wait is over. */
function refusalOfWebhook(session: Session, call: Call | undefined, input: StoredAnswer) {
  const { toolCallId: id, secret } = input;
  const past = session.past.get(id);
  const { hook } = call ?? past ?? {};
  if (hook === undefined || hook !== secret) return 'not_pending';
  if (!isSettled(session, id)) return undefined;
  const isCalled = call === undefined ? past?.told : call.isCalled;
  return isCalled === true ? 'already_completed' : 'expired';
}

/** Lets the conversation continue after a call was settled. */
function continueConversation(
  session: Session,
  source: Source,
  now: number,
  isHook: boolean,
): Resumed {
  const { conversation } = session.tree;
  const paused = conversation.existing.stream === 'paused';
  if (source === 'child' && (paused || isLastToAsk(session))) {
    // The sub-agent was lost while it waited for people.
    const resumed = resumeIfAnswered(session, now);
    if (resumed.resume === undefined) {
      if (paused) continueAlone(session, now);
      else restIfWaiting(session, now);
    }
    return resumed;
  }
  if (source === 'tool' || source === 'child') {
    restIfWaiting(session, now);
    return {};
  }
  const resumed = resumeIfAnswered(session, now, isHook);
  noteDeadline(conversation);
  return resumed;
}

function refusalOf(
  session: Session,
  { source, writer, isError, permitted }: StoredAnswer,
  { state, kind, deadline, isGuarded }: Call,
  isLate: boolean,
): Exclude<SettleReply, { kind: 'stored' | 'edited' }> | undefined {
  const left = deadline === undefined ? Infinity : deadline - session.tree.now;
  const isAsleep = state === 'suspended';
  if (source === 'tool')
    return owns(session, writer) && state === 'started' ? undefined : { kind: 'fenced' };
  if (source === 'child') return kind === 'subagent' ? undefined : { kind: 'kind_mismatch' };
  if (source === 'webhook') {
    if (!isAsleep) return { kind: 'not_due' };
    return left <= 0 ? { kind: 'expired' } : undefined;
  }
  if (source === 'expiry' && isAsleep) return unlessDue(left);
  // An approval may be answered with an error; the call is then not executed.
  const isOfKind =
    kind === 'client'
      ? source !== 'approval'
      : kind === 'approval' && (source !== 'client' || isError);
  if (!isOfKind) return { kind: 'kind_mismatch' };
  if (state !== 'waiting' && !isLate) return { kind: 'already_completed' };
  if (source === 'expiry') return unlessDue(left);
  if (permitted !== true) {
    if (isGuarded === true) return { kind: 'not_allowed' };
    // The answer was read before the call waited, so nobody has checked it.
    if (!isLate) return { kind: 'not_pending' };
  }
  return source === 'approval' && left <= 0 ? { kind: 'expired' } : undefined;
}

/** @param left until the deadline, ms; infinite without one */
function unlessDue(left: number): { kind: 'not_due'; dueInMs?: number } | undefined {
  if (left === Infinity) return { kind: 'not_due' };
  return left > 0 ? { kind: 'not_due', dueInMs: left } : undefined;
}

/**
 * Handles a person's or client's answer to a timed-out call. An approval has expired. The model already got the timeout
 * of a client's call of an earlier step as its result; the late answer adds one hidden note.
 */
function takeLate(session: Session, call: Call | undefined, input: StoredAnswer) {
  const { toolCallId: id, source, late = '', act } = input;
  if (call?.isLate === true && call.kind === 'approval') return 'expired';
  const past = session.past.get(id);
  if (past?.kind === undefined || past.row === undefined) return undefined;
  const row = session.rows.at(past.row);
  // A rewind dropped the row.
  if (row === undefined || headOf(row).toolCallId !== id) return undefined;
  if (past.kind === 'approval') return 'expired';
  if (source !== 'client') return undefined;
  if (past.told === true) return 'late';
  session.past.set(id, { ...past, told: true });
  const text = `The call "${id}" of "${past.name ?? ''}" was answered after its time limit. ${late}`;
  const notice = { role: 'user', id: `late-${id}`, hidden: true, parts: [{ type: 'text', text }] };
  session.content.set(notice.id, JSON.stringify(notice));
  session.existing.notices.push(notice.id);
  noteAct(session, act, { outcome: 'late' });
  return 'late';
}

/** Ends a lost sub-agent together with its call, since its result would have no receiver. */
function endLostChild(session: Session, { child }: Call, now: number): void {
  if (child === undefined) return;
  const below = session.tree.session(child.part);
  if (below.record === undefined || isTerminal(below.record.run.status)) return;
  finish(below, authorOf(below, now), { status: 'failed', code: 'run_failed' });
}

function keep(session: Session, call: Call, input: StoredAnswer): void {
  const { now, changes, output, result, decision, writer } = input;
  session.existing.updated = now;
  session.tree.conversation.existing.updated = now;
  if (changes !== undefined)
    stageChanges(session, `s${String(writer?.step ?? 0)}`, call.id, changes);
  if (output !== undefined && session.existing.run.outputRef === undefined)
    keepOutput(session, output);
  if (result !== undefined) keepResult(session, call.id, result);
  if (decision !== undefined) {
    call.hasDecision = true;
    session.content.set(ofCall('decision', call.id), decision);
  }
  if (input.isApproved) {
    if (input.approver !== undefined)
      session.content.set(ofCall('approver', call.id), input.approver);
    call.state = 'approved';
    return;
  }
  const row = input.row ?? 'null';
  const hasEvents = input.hasEvents === true || call.hook !== undefined;
  settleRow(session, call, hasEvents ? withEvents(session, call.id, row) : row);
}
