import { redis } from './lib/host.js';
import { ownWriter, readOwner, releaseWriter, writeResync, withdraw } from './lib/attempts.js';
import { countLost, isExhausted, type Budget } from './lib/budget.js';
import { readCall, wasTakenIn } from './lib/calls.js';
import { field, int } from './lib/json.js';
import { journalJson, readJournal } from './lib/journal.js';
import { closeLog, openLog } from './lib/log.js';
import { restIfWaiting } from './lib/pause.js';
import { firstAsker } from './lib/places.js';
import { MORE, only, type WriterRequest } from './lib/request.js';
import {
  dropFields,
  isTerminal,
  num,
  readField,
  readRoot,
  seqOf,
  setFields,
  storeNow,
} from './lib/root.js';
import { idOf, isConversation, type Session } from './lib/session.js';
import { settleByCode } from './lib/settling.js';
import { readStoredState } from './lib/stored-state.js';

export interface StartCallRequest {
  writer: WriterRequest;
  toolCallId: string;
  now: number;
  budget: Budget;
  /** Also read the agent's own state. */
  withState?: boolean;
  /** The tool can find out whether an execution that was lost took effect. */
  canVerify?: boolean;
  /** What it found, if it did not find a result. */
  verified?: 'not_done' | 'unknown';
}

const FIELDS = [
  ...(['run', 'status', 'stop', 'seq', 'stream', 'checkpoint', 'committed'] as const),
  'release',
  'askers',
] as const;
const CALL = [
  ...(['state', 'kind', 'again', 'spec', 'decision', 'asked', 'n', 'unsure'] as const),
  ...(['ops', 'sealed', 'release', 'approver'] as const),
];

/**
 * start call: grants permission to execute a tool. A call that was started before is executed again
 * only if the tool is idempotent and its budget of attempts is not used up. A tool that can verify is
 * asked first: the attempt owns the call then, and requests permission once more with the answer.
 * Otherwise the call is settled as tool_outcome_unknown.
 *
 * Checks, in this order: the call is settled · the run is the newest and active · stop record ·
 * fence · kind and state of the call · an approved call was released · idempotence and budget.
 *
 * @returns `execute` or `verify` with the committed call, followed by the agent's state if it is wanted · `settled` · `superseded` · `stopped` · `fenced` ·
 * `suspended` with the time until its wait ends · `refused` · `more`, send the request again
 */
export function startCall(session: Session, request: StartCallRequest): string | unknown[] {
  const { writer, toolCallId, now, budget } = request;
  const { runId, name, token, agentType, step } = writer;
  const root = readRoot(session, FIELDS);
  const seq = seqOf(session);
  const call = readCall(session, toolCallId, CALL);
  const { state } = call;
  if (state === 'settled' || wasTakenIn(session, toolCallId)) return only('settled');
  if (root.run !== runId || isTerminal(root.status)) return only('superseded');
  if (root.stop !== undefined) return only('stopped');
  const owner = readOwner(session, name);
  if (owner.token > token) return only('fenced');
  if (call.kind === 'subagent') return only('refused');
  if (state === 'suspended') return suspended(session, toolCallId, num(call.ops));
  if (state !== 'open' && state !== 'approved' && state !== 'started') return only('refused');
  // The last answer of a batch releases the approved calls; until then the run stays paused.
  if (state === 'approved' && redis.call('SISMEMBER', session.busy, toolCallId) === 0) {
    return only('refused');
  }
  const speaker = { agentId: idOf(session), agentType, step, now };
  const log = openLog(session, seq);
  const isNew = owner.token < token || owner.isWithdrawing;
  const journal = readJournal(session, toolCallId, num(call.ops));
  // Between its recorded steps a tool may be executed again by definition.
  const isSafe = call.again === '1' || (call.ops !== undefined && !journal.isInStep);
  const isAsked = !isNew && call.unsure === '1';
  const isRepeat = state === 'started' && isNew;
  if (isRepeat || (isAsked && request.verified === 'unknown')) {
    const isTaken = owner.token > 0 && owner.token < token;
    const mayRepeat = isRepeat && (isSafe || request.canVerify === true);
    if (!mayRepeat || (isTaken && isExhausted(session, name, owner.token, budget))) {
      settleByCode(session, log, speaker, toolCallId, 'tool_outcome_unknown');
      // The lost attempt may still be alive; it must not write any more.
      releaseWriter(session, name);
      restIfWaiting(session, log, now);
      closeLog(log);
      return only('settled');
    }
    const before = withdraw(session, name, token);
    if (isTaken) countLost(session, name, owner.token, budget);
    if (before === undefined) return MORE;
    if (before.removed) writeResync(session, root, log, speaker, toolCallId);
    closeLog(log);
  }
  const isUnsure = isRepeat ? !isSafe : isAsked && request.verified !== 'not_done';
  if (isUnsure !== (call.unsure === '1')) {
    if (isUnsure) redis.call('HSET', session.calls, `unsure:${toolCallId}`, '1');
    else redis.call('HDEL', session.calls, `unsure:${toolCallId}`);
  }
  let executions = num(call.n);
  if (isNew) {
    ownWriter(session, name, token, log.seq, owner.token > 0);
    if (call.sealed !== undefined) {
      redis.call('HSET', session.writers, `e:${name}`, call.sealed);
    }
    redis.call('HSET', session.calls, `state:${toolCallId}`, 'started');
    executions = redis.call('HINCRBY', session.calls, `n:${toolCallId}`, '1');
    setFields(session, ['updated', int(now)]);
    // A start of a call that was released before does not show that the newest signal has arrived.
    if (state === 'approved' && call.release === root.release) {
      setFields(session, ['taken', root.committed ?? '0']);
      dropFields(session.conversation, [`wake:${session.part}`]);
    }
  }
  const isShownAbove = !isConversation(session) && call.asked !== undefined;
  const shownIn = isShownAbove ? int(num(readField(session.conversation, 'committed'))) : '';
  const recorded = call.ops === undefined ? '' : journalJson(journal);
  const asker = firstAsker(readField(session.conversation, 'askers'));
  const rest =
    field('requester', asker) +
    field('decision', call.decision) +
    field('approver', call.approver) +
    field('shownIn', shownIn) +
    field('journal', recorded);
  const permission = `{"kind":"${isUnsure ? 'verify' : 'execute'}","call":${call.spec ?? 'null'},"execution":${int(executions)}${rest}}`;
  return request.withState === true ? [permission, ...readStoredState(session)] : permission;
}

/** The call waits: with the remaining time, if its wait has a deadline. */
function suspended(session: Session, id: string, ops: number): string {
  const wait = redis.call('HGET', session.calls, `op${int(ops - 1)}Call:${id}`);
  const deadline = wait === false ? undefined : readCall(session, wait, ['deadline']).deadline;
  const left = deadline === undefined ? '' : int(Math.max(0, num(deadline) - storeNow()));
  return `{"kind":"suspended"${field('dueInMs', left)}}`;
}
