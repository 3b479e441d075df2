import { ASK_STEP_ID } from '../../protocol/ids.js';
import type { AssistantRow, Row } from '../../protocol/rows.js';
import type { RunStatus } from '../../protocol/run.js';
import { fromJson, toJson } from './json.js';
import { write } from './log.js';
import { writeOwn, type Speaker } from './own-chunks.js';
import type { MemoryCall, MemoryRun, MemorySession } from './session.js';
import { isConversation, sessionsBelow } from './tree.js';

/** A session that can go no further without people. */
type Resting = Extract<RunStatus, 'waiting_approval' | 'waiting_tool' | 'waiting_children'>;

/**
 * A session in which only people, or sub-agents that wait for people, can progress rests. Then its
 * parent's call is busy no more; when the conversation itself rests, all pauses. True if it did.
 */
export function restIfWaiting(session: MemorySession, now: number, storeNow: number): boolean {
  const { run, busy, parent } = session;
  if (run === undefined || busy.size > 0) return false;
  const status = restingStatus(session);
  if (status === undefined) return false;
  run.status = status;
  if (parent === undefined) {
    if (session.stream === 'paused') return false;
    pauseTree(session, run, status, now, storeNow);
    return true;
  }
  parent.session.busy.delete(parent.toolCallId);
  return restIfWaiting(parent.session, now, storeNow);
}

/** What a session waits for; undefined if it can go on. */
function restingStatus({ calls, busy }: MemorySession): Resting | undefined {
  const all = [...calls];
  const waiting = all.filter(([, { state }]) => state === 'waiting');
  if (waiting.some(([, { kind }]) => kind === 'approval')) return 'waiting_approval';
  if (waiting.length > 0) return 'waiting_tool';
  const hasResting = all.some(([id, { state }]) => state === 'open' && !busy.has(id));
  return hasResting ? 'waiting_children' : undefined;
}

const REASONS: Record<Resting, string> = {
  waiting_approval: 'approval',
  waiting_tool: 'client_tool',
  waiting_children: 'awaiting_children',
};

function pauseTree(
  session: MemorySession,
  run: MemoryRun,
  status: Resting,
  now: number,
  storeNow: number,
): void {
  const who = conversationSpeaker(session, run, now);
  const waiting = [session, ...sessionsBelow(session)].flatMap(({ calls }) =>
    [...calls].filter(([, { state }]) => state === 'waiting'),
  );
  showHeld(session, run, who, waiting);
  writeMarker(
    session,
    who,
    status,
    waiting.map(([id]) => id),
  );
  for (const [, call] of waiting) {
    // A clock that runs is not set back by another pause.
    if (call.deadlineMs !== undefined) call.deadline ??= storeNow + call.deadlineMs;
  }
  const deadline = firstDeadline(session);
  const [first] = waiting;
  writeOwn(session, who, 'run_paused', {
    runId: run.runId,
    reason: REASONS[status],
    ...(first && { pendingToolName: first[1].toolName, pendingToolCallId: first[0] }),
    ...(deadline !== undefined && { deadline }),
  });
  session.pauseSequence = session.log.sequence;
  for (const [, call] of waiting) call.askedAt ??= session.pauseSequence;
  session.stream = 'paused';
  session.wakes.clear();
}

/** Earliest deadline of the calls that wait in a conversation. */
export function firstDeadline(session: MemorySession): number | undefined {
  const calls = [session, ...sessionsBelow(session)].flatMap((each) => [...each.calls.values()]);
  const deadlines = calls.flatMap(({ state, deadline }) =>
    state === 'waiting' && deadline !== undefined ? [deadline] : [],
  );
  return deadlines.length === 0 ? undefined : Math.min(...deadlines);
}

/** Shows what was kept back, in a step of its own and as one row of the conversation's history. */
function showHeld(
  session: MemorySession,
  { runId, messageId }: MemoryRun,
  who: Speaker,
  waiting: readonly [string, MemoryCall][],
): void {
  const asks = waiting.flatMap(([, { ask }]) => ask ?? []);
  if (asks.length === 0) return;
  writeOwn(session, who, 'step_start', { stepId: ASK_STEP_ID });
  const { sequence } = session.log;
  for (const { chunk } of asks) {
    const shown = { ...fromJson(chunk), step: who.step, timestamp: who.now };
    write(session.log, '', toJson(shown));
  }
  writeOwn(session, who, 'step_end', { stepId: ASK_STEP_ID });
  const parts = asks.map(({ part }) => part);
  const row: AssistantRow = {
    role: 'assistant',
    display: true,
    messageId,
    runId,
    step: who.step,
    sequence,
    parts,
  };
  session.rows.push(toJson<Row>(row));
  for (const [, call] of waiting) call.ask = undefined;
}

function writeMarker(
  session: MemorySession,
  who: Speaker,
  status: Resting,
  toolCallIds: string[],
): void {
  const calls = [...session.calls];
  if (status === 'waiting_children') {
    const children = calls.flatMap(([callId, { state, child }]) =>
      state === 'open' && child !== undefined
        ? [{ subSessionId: child.sessionId, subAgentType: child.agent, callId }]
        : [],
    );
    const payload = { children };
    writeOwn(session, who, 'suspension_marker', { kind: 'suspended_awaiting_children', payload });
  } else if (calls.some(([, { state }]) => state === 'settled')) {
    const payload = { toolCallIds, stepId: `s${String(who.step)}` };
    writeOwn(session, who, 'suspension_marker', { kind: 'suspended_step_partial', payload });
  } else {
    const payload = { toolCallIds };
    writeOwn(session, who, 'suspension_marker', { kind: 'suspended_client_tool', payload });
  }
}

/** Who speaks for the conversation. */
export function conversationSpeaker(
  { id, identity }: MemorySession,
  run: MemoryRun,
  now: number,
): Speaker {
  return { agentId: id, agentType: identity?.agent ?? '', step: run.committedStep, now };
}

/** True for a sub-agent whose conversation rests: it goes on with the others. */
export function waitsForOthers(session: MemorySession): boolean {
  return !isConversation(session) && session.root.stream === 'paused';
}
