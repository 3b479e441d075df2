import { finish, emitNextWaits, type Ending } from './finish.js';
import { pushRows } from './messages.js';
import type { Call } from './record.js';
import { writeChunk, authorOf, withRaw, type ChunkAuthor } from './chunks.js';
import { ofCall, setBusy } from './settling.js';
import type { Session } from './tree.js';
import { isWaiting, noteDeadline, sessionsBelow } from './waiting.js';

const REASON = {
  waiting_approval: 'approval',
  waiting_tool: 'client_tool',
  waiting_children: 'awaiting_children',
} as const;
type Waiting = keyof typeof REASON;

/**
 * Pauses a session that only people, or sub-agents that wait for people, can continue. The parent of a paused sub-agent
 * is no longer busy with it. When the conversation pauses, so does the stream. If a queued message withdraws the
 * questions, the run ends instead.
 *
 * @returns true if the conversation no longer works
 */
export function restIfWaiting(session: Session, now: number): boolean {
  const { existing: record } = session;
  if (record.run.hasModel || record.run.busyCalls > 0) return false;
  const status = restingStatus(session.openCalls());
  if (status === undefined) return false;
  record.run.status = status;
  if (session.isConversation) {
    if (record.stream === 'paused') return false;
    const isUnwanted = record.queue.some(({ withdraws }) => withdraws === record.run.id);
    if (isUnwanted) emitNextWaits(session, abandon(session, now));
    else pause(session, now, status);
    return true;
  }
  const above = session.tree.session(record.parent?.part ?? '');
  const call = above.calls.get(record.parent?.toolCallId ?? '');
  if (call !== undefined) setBusy(above, call, false);
  return restIfWaiting(above, now);
}

/** Returns the status of a session in which nothing is busy; undefined if it can continue. */
function restingStatus(calls: readonly Call[]): Waiting | undefined {
  const isAsked = calls.some(({ kind, state }) => kind === 'approval' && state === 'waiting');
  if (isAsked) return 'waiting_approval';
  if (calls.some(isWaiting)) return 'waiting_tool';
  return calls.some(({ state }) => state === 'open') ? 'waiting_children' : undefined;
}

interface Asked {
  session: Session;
  call: Call;
}

/**
 * Ends a run that waits for people, since they go on without it: results that were given are kept, all other calls are
 * settled as abandoned.
 *
 * @returns true if messages wait for their turn
 */
export function abandon(session: Session, now: number): boolean {
  return finish(session, authorOf(session, now), ABANDONED);
}

const ABANDONED: Ending = {
  status: 'interrupted',
  reason: 'abandoned',
  code: 'client_tool_abandoned',
};

function pause(conversation: Session, now: number, status: Waiting): void {
  const { existing: record } = conversation;
  const { run } = record;
  const author = authorOf(conversation, now);
  const found = sessionsBelow(conversation);
  const own = found[0]?.calls ?? [];
  const waiting: Asked[] = found.flatMap(({ session, calls }) =>
    calls.filter(({ state }) => state === 'waiting').map((call) => ({ session, call })),
  );
  showHeld(conversation, author, waiting);
  writeMarker(conversation, author, status, own, waiting);
  for (const { call } of waiting) {
    if (call.deadline === undefined && call.waitMs !== undefined)
      call.deadline = conversation.tree.now + call.waitMs;
  }
  const deadline = noteDeadline(conversation);
  const first = waiting[0]?.call;
  writeChunk(conversation, author, 'run_paused', {
    runId: run.id,
    reason: REASON[status],
    pendingToolName: first?.name,
    pendingToolCallId: first?.id,
    deadline,
  });
  const { sequence } = conversation.tree.log;
  for (const { session, call } of waiting) {
    call.asked ??= sequence;
    if (call.isHeld !== true) continue;
    delete call.isHeld;
    session.content.unset(ofCall('ask', call.id), ofCall('part', call.id));
  }
  record.stream = 'paused';
  run.paused = sequence;
  // Wake-ups for sub-agents are obsolete once everything waits again.
  record.wakes = {};
  conversation.tree.emit({ kind: 'charge_changed' });
}

/** Writes the marker that holds the reason for the pause; it never reaches a client. */
function writeMarker(
  conversation: Session,
  author: ChunkAuthor,
  status: Waiting,
  own: readonly Call[],
  waiting: readonly Asked[],
): void {
  const mark = (kind: string, payload: object): void => {
    writeChunk(conversation, author, 'suspension_marker', { kind, payload });
  };
  const toolCallIds = waiting.map(({ call }) => call.id);
  if (status === 'waiting_children') {
    const children = own.flatMap(({ id, state, child }) =>
      state === 'open' && child !== undefined
        ? { subSessionId: child.sessionId, subAgentType: child.agent, callId: id }
        : [],
    );
    mark('suspended_awaiting_children', { children });
  } else if (own.some(({ state }) => state === 'settled')) {
    mark('suspended_step_partial', { toolCallIds, stepId: `s${String(author.step)}` });
  } else {
    mark('suspended_client_tool', { toolCallIds });
  }
}

/**
 * Writes the deferred requests of sub-agents, in a step of their own and as one row of the conversation's history. They
 * join the step of earlier questions that are still open, since stock pages send the answers of the last step only.
 */
function showHeld(conversation: Session, author: ChunkAuthor, waiting: readonly Asked[]): void {
  const held = waiting.filter(({ call }) => call.isHeld === true);
  if (held.length === 0) return;
  const { log } = conversation.tree;
  const isBesideOpen = waiting.length > held.length;
  const joins = isBesideOpen && { joins: true };
  writeChunk(conversation, author, 'step_start', { stepId: 'ask', ...joins });
  const first = log.sequence;
  const { step, timestamp } = author;
  const parts: string[] = [];
  for (const { session, call } of held) {
    const ask = session.content.get(ofCall('ask', call.id)) ?? '{}';
    log.add(withRaw(ask, { step: String(step), timestamp: String(timestamp) }));
    parts.push(session.content.get(ofCall('part', call.id)) ?? '{}');
  }
  writeChunk(conversation, author, 'step_end', { stepId: 'ask' });
  const { run, turn } = conversation.existing;
  const head = {
    role: 'assistant',
    messageId: turn.messageId,
    runId: run.id,
    step,
    display: true,
    sequence: first,
    ...joins,
  };
  pushRows(conversation, withRaw(JSON.stringify(head), { parts: `[${parts.join(',')}]` }));
}
