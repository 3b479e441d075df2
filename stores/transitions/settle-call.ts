import { byteLength, redis } from './lib/host.js';
import { withEvents } from './lib/call-events.js';
import { readCall, wasTakenIn } from './lib/calls.js';
import { speakerOf } from './lib/chunks.js';
import { noteDeadline } from './lib/deadlines.js';
import { finish } from './lib/finish.js';
import { field, int } from './lib/json.js';
import { takeLateAnswer } from './lib/late-answers.js';
import { closeLog, openLog, writeAll } from './lib/log.js';
import { noteAct } from './lib/outbox.js';
import { restIfWaiting } from './lib/pause.js';
import { contentAt, only, type Content, type WriterRequest } from './lib/request.js';
import { continueAlone, isLastToAsk, NOTHING_RESUMED, resumeIfAnswered } from './lib/resume.js';
import {
  isLive,
  isTerminal,
  num,
  readField,
  readRoot,
  isPaused,
  seqOf,
  setFields,
  storeNow,
} from './lib/root.js';
import { sessionAt, type Session } from './lib/session.js';
import { isUnseen, settleRow } from './lib/settling.js';
import { countStored } from './lib/size.js';
import { stageChanges } from './lib/staging.js';
import { ownerOf } from './lib/walk.js';

export interface SettleCallRequest {
  source: 'tool' | 'approval' | 'client' | 'expiry' | 'child' | 'webhook';
  runId: string;
  toolCallId: string;
  /** For source `tool`: the attempt that executed the call. */
  writer?: WriterRequest;
  now: number;
  row?: Content;
  /** True if the row holds an error. */
  isError: boolean;
  decision?: Content;
  /** The person who approves, JSON. */
  approver?: Content;
  isApproved: boolean;
  /** The input that a person put in place of the model's: it waits for another person. */
  edit?: Content;
  /** The edit that the person was shown, 0 for none. */
  shownEdit?: number;
  /** The output of the row, if it is stored apart. */
  result?: Content;
  /** Text for the model about an answer of a client that came after the timeout. */
  late?: string;
  /** The answer was checked, and its giver was found to be permitted. */
  permitted?: boolean;
  /** Changes to the agent's own state. */
  changes?: Content;
  /**
   * The result of the run, if this call ends it: inline, or for a large one its text and the field
   * that stores it.
   */
  output?: Content;
  outputRef?: string;
  outputText?: Content;
  /** The call emitted events beside its result, which its row keeps. */
  hasEvents: boolean;
  chunks: Content;
  chunkCount: number;
  /** The entry of the audit trail; absent for results of tools and sub-agents. */
  act?: Content;
}

const CALL = [
  ...(['state', 'kind', 'late', 'lapsed', 'lapsedAt', 'ask', 'deadline', 'child'] as const),
  ...(['guard', 'of', 'edits'] as const),
] as const;
type Call = Record<(typeof CALL)[number], string | undefined>;

/**
 * settle call: stores the one result of a call, or a person's decision about it. The first one
 * wins. Answers of people are addressed to the conversation, whichever of its agents asked. The
 * answer that completes a batch also makes run and stream active again.
 *
 * Checks, in this order: a late answer to a call of an earlier step · an approval that timed out ·
 * the call is settled · it exists · its run is the newest and active · people were already asked ·
 * the source may settle it: fence for a tool, kind, permission and deadline (by Redis' clock) for a
 * person · the input is the one that the person was shown.
 *
 * @returns `stored` with the sequence and the runs to wake · `edited` · `late` · `already_completed` ·
 * `not_pending` · `stale_run` · `kind_mismatch` · `not_allowed` · `expired` · `fenced` · `not_due` with the
 * remaining time
 */
export function settleCall(
  requested: Session,
  request: SettleCallRequest,
  args: readonly string[],
): string {
  const { source, toolCallId: id, runId, now, writer } = request;
  const session = ownerOf(requested, id);
  const call = readCall(session, id, CALL);
  const isLate = call.late === '1' && source === 'client' && call.kind === 'client';
  const closed = source === 'webhook' ? closedWebhook(session, id, call) : undefined;
  if (closed !== undefined) return closed;
  const lapsed = takeLateAnswer(session, id, call, source, request.late ?? '');
  if (lapsed !== undefined) {
    if (lapsed === 'late' && call.lapsed !== 'told') noteAct(session, args, request.act, 'late');
    return only(lapsed);
  }
  const isPersons = source === 'approval' || source === 'client';
  if (isPersons && call.late === '1' && call.kind === 'approval') return only('expired');

  const root = readRoot(session, ['run', 'status', 'seq', 'stream']);
  const seq = seqOf(session);
  const paused = isPaused(session);
  if (!isLate && (call.state === 'settled' || wasTakenIn(session, id))) {
    return alreadySettled(session, writer, seq);
  }
  if (call.state === undefined) return only('not_pending');
  if (root.run !== runId || isTerminal(root.status)) return only('stale_run');
  // People have not been asked yet.
  if (source !== 'tool' && call.ask !== undefined) return only('not_pending');
  const refusal = refusalOf(session, request, call, isLate);
  if (refusal !== undefined) return refusal;
  // Somebody else has changed the input since it was shown.
  if (isPersons && !isLate && num(call.edits) !== (request.shownEdit ?? 0)) {
    return only('not_pending');
  }
  if (request.edit !== undefined) {
    const edit = [
      `edit:${id}`,
      contentAt(args, request.edit),
      `edits:${id}`,
      int(num(call.edits) + 1),
    ];
    redis.call('HSET', session.calls, ...edit);
    noteAct(session, args, request.act, 'edited');
    return `{"kind":"edited","sequence":${seq ?? '0'}}`;
  }

  const log = openLog(session, seq);
  if (source === 'expiry' && call.of === undefined) {
    redis.call('HSET', session.calls, `late:${id}`, '1');
  }
  if (source === 'child' && call.child !== undefined) endLostChild(session, call.child, log, now);
  const chunks: string[] = [];
  for (let at = 0; at < request.chunkCount; at += 1) {
    chunks.push(args[request.chunks + at] as string);
  }
  writeAll(log, chunks, source === 'tool' ? (writer as WriterRequest).name : '');
  keep(session, request, args);
  // Stays when the call is forgotten: the webhook may be called again.
  if (source === 'webhook') redis.call('HSET', session.calls, `lapsed:${id}`, 'called');
  // The wait of a tool is over: its call is released, with the batch if people ended it.
  if (call.of !== undefined) redis.call('HSET', session.calls, `state:${call.of}`, 'approved');
  noteAct(session, args, request.act, 'stored');
  if (source === 'client') redis.call('HDEL', session.calls, `late:${id}`);

  let resumed = NOTHING_RESUMED;
  if (source === 'child' && (paused || isLastToAsk(session))) {
    // The sub-agent was lost while it waited for people.
    resumed = resumeIfAnswered(session, log, now, undefined);
    if (resumed.resume === '' && paused) continueAlone(session, log, now);
    else if (resumed.resume === '') restIfWaiting(session, log, now);
    noteDeadline(session);
  } else if (source === 'tool' || source === 'child') {
    restIfWaiting(session, log, now);
  } else if (!isLate) {
    resumed = resumeIfAnswered(session, log, now, isUnseen(call.kind) ? call.of : undefined);
    noteDeadline(session);
  }
  closeLog(log);
  const goesOn = field('resume', resumed.resume) + field('others', resumed.others);
  return `{"kind":"stored","sequence":${int(log.seq)}${goesOn}}`;
}

/** The attempt that settled the call gets the same reply again: its connection may have dropped. */
function alreadySettled(
  session: Session,
  writer: WriterRequest | undefined,
  seq: string | undefined,
): string {
  if (writer === undefined) return only('already_completed');
  const owner = redis.call('HGET', session.writers, `t:${writer.name}`);
  if (owner === false || num(owner) !== writer.token) return only('already_completed');
  return `{"kind":"stored","sequence":${seq ?? '0'}}`;
}

/** Why this source may not settle the call; undefined if it may. */
function refusalOf(
  session: Session,
  { source, writer, isError, permitted }: SettleCallRequest,
  { state, kind, deadline, guard }: Call,
  isLate: boolean,
): string | undefined {
  if (source === 'tool') {
    const { name, token } = writer as WriterRequest;
    const owner = redis.call('HGET', session.writers, `t:${name}`);
    const isOwner = owner !== false && num(owner) === token;
    return isOwner && state === 'started' ? undefined : only('fenced');
  }
  if (source === 'child') return kind === 'subagent' ? undefined : only('kind_mismatch');
  if (source === 'webhook') return waitingOr(kind === 'webhook', state, deadline);
  if (kind === 'timer' || kind === 'webhook') return ofTimer(source, deadline);
  if (kind !== 'approval' && kind !== 'client') return only('kind_mismatch');
  if (source === 'approval' && kind !== 'approval') return only('kind_mismatch');
  // An approval may be answered with an error; the call is then not executed.
  if (source === 'client' && kind === 'approval' && !isError) return only('kind_mismatch');
  if (state !== 'waiting' && !isLate) return only('already_completed');
  const isPersons = source === 'approval' || source === 'client';
  if (isPersons && permitted !== true) {
    if (guard === '1') return only('not_allowed');
    // It was read before the call waited: no one has checked it.
    if (!isLate) return only('not_pending');
  }
  if (source === 'client') return undefined;
  const left = leftUntil(deadline);
  if (source === 'approval') {
    return left !== undefined && left <= 0 ? only('expired') : undefined;
  }
  return unlessPassed(left);
}

function leftUntil(deadline: string | undefined): number | undefined {
  return deadline === undefined ? undefined : num(deadline) - storeNow();
}

/** Undefined once the deadline has passed. */
function unlessPassed(left: number | undefined): string | undefined {
  if (left === undefined) return only('not_due');
  return left > 0 ? `{"kind":"not_due","dueInMs":${int(left)}}` : undefined;
}

/** No person ends what a tool waits for. */
function ofTimer(source: string, deadline: string | undefined): string | undefined {
  return source === 'expiry' ? unlessPassed(leftUntil(deadline)) : only('kind_mismatch');
}

/** Undefined while the webhook may be called. */
function closedWebhook(
  session: Session,
  id: string,
  { state, lapsed }: Pick<Call, 'state' | 'lapsed'>,
): string | undefined {
  if (state !== 'settled' && !wasTakenIn(session, id)) return undefined;
  const wasCalled = lapsed === 'called';
  return only(wasCalled ? 'already_completed' : 'expired');
}

/** A webhook is called before its deadline. */
function waitingOr(
  isWebhook: boolean,
  state: string | undefined,
  deadline: string | undefined,
): string | undefined {
  if (!isWebhook) return only('kind_mismatch');
  if (state !== 'waiting') return only('already_completed');
  return deadline !== undefined && num(deadline) <= storeNow() ? only('expired') : undefined;
}

/** A lost sub-agent ends together with its call: its result would have no receiver. */
function endLostChild(
  session: Session,
  part: string,
  log: ReturnType<typeof openLog>,
  now: number,
): void {
  const child = sessionAt(session, part);
  const { status, agent, committed } = readRoot(child, ['status', 'agent', 'committed']);
  if (!isLive(status)) return;
  const speaker = speakerOf(child, agent, committed, now);
  finish(child, log, speaker, {
    status: 'failed',
    error: '',
    reason: undefined,
    code: 'run_failed',
  });
}

/** Stores the answer: decision, result, and what the call leaves beside it. */
function keep(session: Session, request: SettleCallRequest, args: readonly string[]): void {
  const { toolCallId: id, now, changes, output, outputRef, result, decision } = request;
  const updated = ['updated', int(now)];
  setFields(session, updated);
  setFields(session.conversation, updated);
  if (changes !== undefined) {
    const { step } = request.writer as WriterRequest;
    stageChanges(session, `s${int(step)}`, id, contentAt(args, changes));
  }
  if (output !== undefined && readField(session, 'output') === undefined) {
    setFields(session, ['output', contentAt(args, output)]);
  }
  if (outputRef !== undefined) {
    if (readField(session, 'outputRef') === undefined) {
      setFields(session, ['outputRef', outputRef]);
    }
    const text = contentAt(args, request.outputText);
    redis.call('HSET', session.results, outputRef, text);
    countStored(session, byteLength(text));
  }
  if (result !== undefined) {
    const text = contentAt(args, result);
    redis.call('HSET', session.results, id, text);
    countStored(session, byteLength(text));
  }
  if (decision !== undefined) {
    redis.call('HSET', session.calls, `decision:${id}`, contentAt(args, decision));
  }
  if (request.isApproved) {
    const approver = contentAt(args, request.approver);
    if (approver !== '') redis.call('HSET', session.calls, `approver:${id}`, approver);
    redis.call('HSET', session.calls, `state:${id}`, 'approved');
    return;
  }
  const row = contentAt(args, request.row);
  settleRow(session, id, request.hasEvents ? withEvents(session, id, row) : row);
}
