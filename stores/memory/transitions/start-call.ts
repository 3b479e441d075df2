import { isTerminal } from '../../../protocol/run.js';
import type { StartCallInput, StartCallResult } from '../../contract/calls.js';
import { ownWriter, tellOfWithdrawal, withdraw } from '../attempts.js';
import { settleByCode, tellerOf } from '../calls.js';
import { fromJson } from '../json.js';
import { speakerOf } from '../own-chunks.js';
import { restIfWaiting } from '../pause.js';
import type { MemorySession, StoreContext } from '../session.js';

/**
 * Permission to execute a tool. A call that had started is not executed again unless the tool is
 * idempotent: it is settled as tool_outcome_unknown.
 */
export function startCall(
  session: MemorySession,
  { writer, toolCallId, now }: StartCallInput,
  context: StoreContext,
): StartCallResult {
  const { run } = session;
  const { name, token, runId } = writer;
  const call = session.calls.get(toolCallId);
  const who = speakerOf(writer, now);
  if (call?.state === 'settled' || session.settled.has(toolCallId)) return { kind: 'settled' };
  if (run?.runId !== runId || isTerminal(run.status)) return { kind: 'superseded' };
  if (run.stop !== undefined) return { kind: 'stopped' };
  const owner = session.writers.get(name)?.token ?? 0;
  if (owner > token) return { kind: 'fenced' };
  if (call === undefined || call.state === 'waiting' || call.kind === 'subagent') {
    return { kind: 'refused' };
  }
  // The last answer of a batch releases what was approved; until then the run rests.
  if (call.state === 'approved' && !session.busy.has(toolCallId)) return { kind: 'refused' };

  if (call.state === 'started' && owner < token) {
    if (!call.idempotent) {
      settleByCode(session, who, toolCallId, 'tool_outcome_unknown');
      // The attempt that was lost may live: it has nothing more to say.
      session.writers.delete(name);
      restIfWaiting(session, now, context.now);
      return { kind: 'settled' };
    }
    if (withdraw(session, name) > 0) tellOfWithdrawal(session, who, toolCallId);
  }
  if (owner < token) {
    if (call.state === 'approved') {
      run.resumeTaken = true;
      session.root.wakes.delete(session.id);
    }
    ownWriter(session, name, token);
    call.state = 'started';
    call.executions += 1;
    session.updatedAt = now;
  }
  const teller = tellerOf(session, call, who);
  return {
    kind: 'execute',
    call: fromJson(call.spec),
    execution: call.executions,
    ...(call.decision !== undefined && { decision: fromJson(call.decision) }),
    ...(teller !== who && { shownIn: teller.step }),
  };
}
