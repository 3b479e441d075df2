import type { Row } from '../../protocol/rows.js';
import { addUsage } from '../record/run-usage.js';
import { fromJson, toJson, type Json } from './json.js';
import { writeOwn, type Speaker } from './own-chunks.js';
import type { MemoryCall, MemorySession } from './session.js';
import { isConversation } from './tree.js';
import { withEvents } from './said-by-call.js';
import { undoPatches } from './undo-patches.js';

const CODE_TEXT = {
  run_stopped: 'The run was stopped before this call was carried out.',
  run_failed: 'The run failed before this call was carried out.',
  client_tool_abandoned: 'The user went on without answering this call.',
  tool_outcome_unknown:
    'The tool had started when its worker was lost or stopped; whether it took effect is not known.',
};

/** Why the store settles a call by itself. */
export type SettleCode = keyof typeof CODE_TEXT;

export function settleCallWith(session: MemorySession, toolCallId: string, row: Json<Row>): void {
  const call = session.calls.get(toolCallId);
  if (call === undefined) return;
  call.state = 'settled';
  call.row = row;
  if (call.child !== undefined && session.run !== undefined) {
    // What a sub-agent used, its parent's run has used.
    const child = session.root.children.get(call.child.sessionId);
    session.run.usage = addUsage(session.run.usage, child?.run?.usage);
  }
  session.busy.delete(toolCallId);
}

export function settleByCode(
  session: MemorySession,
  who: Speaker,
  toolCallId: string,
  code: SettleCode,
): void {
  const call = session.calls.get(toolCallId);
  if (call === undefined) return;
  const { toolName, kind, spec } = call;
  const decision = call.decision === undefined ? fromJson(spec).decision : fromJson(call.decision);
  if (code === 'tool_outcome_unknown') undoPatches(session, who, toolCallId);
  const failure = { error: CODE_TEXT[code], errorCode: code };
  const row: Row = {
    role: 'tool',
    toolCallId,
    toolName,
    ...failure,
    ...(decision !== undefined && { decision }),
  };
  const settled = toJson(row);
  const started = call.state === 'started';
  settleCallWith(session, toolCallId, started ? withEvents(session, toolCallId, settled) : settled);
  // What nobody was shown needs no end.
  if (call.ask !== undefined) return;
  writeOwn(session, tellerOf(session, call, who), 'tool_end', {
    toolCallId,
    toolName,
    result: null,
    ...failure,
    ...((kind === 'server' || kind === 'subagent') && { providerExecuted: true }),
  });
}

/** Who tells of a call: what people were asked for a sub-agent stands in the conversation's message. */
export function tellerOf({ root, run }: MemorySession, call: MemoryCall, who: Speaker): Speaker {
  if (root.run === run || call.askedAt === undefined) return who;
  return { ...who, agentId: root.id, step: root.run?.committedStep ?? 0 };
}

/** Settles whatever is open: what had started as outcome unknown, the rest by the given code. */
export function closeCalls(session: MemorySession, who: Speaker, code: SettleCode): void {
  for (const [toolCallId, { state }] of session.calls) {
    if (state === 'settled') continue;
    settleByCode(session, who, toolCallId, state === 'started' ? 'tool_outcome_unknown' : code);
  }
}

export function hasUnsettledCalls(session: MemorySession): boolean {
  return [...session.calls.values()].some(({ state }) => state !== 'settled');
}

/**
 * Takes the settled calls' results into the transcript, in the order of the calls. Those of a
 * sub-agent that people were asked about are kept for the conversation's history as well.
 */
export function takeInResults(session: MemorySession): void {
  for (const [toolCallId, { row, kind, toolName, askedAt, hasTimedOut }] of session.calls) {
    if (row !== undefined) session.rows.push(row);
    if (hasTimedOut) session.lapsed.set(toolCallId, { kind, toolName, isTold: false });
    if (row !== undefined && !isConversation(session) && askedAt !== undefined) {
      session.root.rows.push(toJson({ ...fromJson(row), display: true } as Row));
    }
    session.settled.add(toolCallId);
  }
  session.calls.clear();
}

/** Tells the model what came too late to be a result. */
export function takeInNotices({ rows, notices }: MemorySession): void {
  rows.push(...notices.splice(0));
}
