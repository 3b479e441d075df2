import { LIMITS } from '../../../protocol/limits.js';
import { isTerminal, type RunError } from '../../../protocol/run.js';
import type { BeginChildInput, BeginChildResult } from '../../contract/runs.js';
import { toJson } from '../json.js';
import { writeOwn } from '../own-chunks.js';
import type { MemoryRun, MemorySession, Parent } from '../session.js';

const LIMIT: RunError = {
  code: 'subagent_limit',
  message: 'Too many sub-agents were started.',
  retryable: false,
};

/** Makes the session of a sub-agent from the call that it carries out; its input comes from nowhere else. */
export function beginChild(session: MemorySession, input: BeginChildInput): BeginChildResult {
  const { child, parent, now } = input;
  const { root, run } = session;
  if (run?.runId === child.runId) return { kind: run.isOverLimit === true ? 'limit' : 'begun' };
  const above = parent.sessionId === root.id ? root : root.children.get(parent.sessionId);
  const call = above?.calls.get(parent.toolCallId);
  if (above?.run?.runId !== parent.runId || isTerminal(above.run.status)) {
    return { kind: 'superseded' };
  }
  const isOurs =
    call?.state === 'open' &&
    call.child?.sessionId === child.sessionId &&
    call.child.runId === child.runId &&
    call.child.agent === child.agent;
  if (!isOurs || call.brief === undefined || root.run === undefined) return { kind: 'refused' };

  const isOver = root.run.subAgents >= LIMITS.subAgents;
  const { toolCallId, runId } = parent;
  open(session, { session: above, runId, toolCallId }, input, isOver);
  session.rows.push(call.brief);
  if (isOver) return { kind: 'limit' };
  root.run.subAgents += 1;
  const speaker = {
    agentId: above.id,
    agentType: above.identity?.agent ?? '',
    step: above.run.committedStep,
    now,
  };
  writeOwn(root, speaker, 'subagent_start', {
    subAgentType: child.agent,
    subSessionId: child.sessionId,
    callId: toolCallId,
  });
  root.updatedAt = now;
  return { kind: 'begun' };
}

function open(
  session: MemorySession,
  parent: Parent,
  { child, now }: BeginChildInput,
  isOver: boolean,
): void {
  const { root } = session;
  const { owner = '', tenant = '' } = root.identity ?? {};
  session.parent = parent;
  session.identity = { agent: child.agent, owner, tenant, createdAt: now, born: child.runId };
  session.runCount = 1;
  session.updatedAt = now;
  session.pauseSequence = session.log.sequence;
  const run: MemoryRun = {
    runId: child.runId,
    turn: 1,
    messageId: '',
    startSequence: session.log.sequence,
    startRow: 0,
    startedAt: now,
    mode: 'new',
    runSequence: session.log.sequence,
    fromStep: 0,
    status: isOver ? 'failed' : 'starting',
    committedStep: 0,
    claimedStep: 0,
    hasReplied: false,
    resumeTaken: false,
    subAgents: 0,
    ...(isOver && { isOverLimit: true, error: toJson(LIMIT) }),
  };
  session.run = run;
  root.children.set(session.id, session);
}
