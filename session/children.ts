import { childPartOf } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import type { ChildRef, ParentRef, RunError } from '../protocol/run.js';
import type { Stored } from './input.js';
import { pushRows } from './messages.js';
import { newRecord } from './record.js';
import { writeChunk, authorOf } from './chunks.js';
import { ofCall } from './settling.js';
import type { Session } from './tree.js';
import { isActive } from './writers.js';

export interface BeginChild {
  child: Pick<ChildRef, 'sessionId' | 'runId' | 'agent'>;
  parent: Pick<ParentRef, 'sessionId' | 'runId' | 'toolCallId'>;
  now: number;
}

export interface BeginChildReply {
  /** `limit`: too many sub-agents; the run has failed. `refused`: no such call, or it belongs to another sub-agent. */
  kind: 'begun' | 'limit' | 'superseded' | 'refused';
}

const TOO_MANY: RunError = {
  code: 'subagent_limit',
  message: 'Too many sub-agents were started.',
  retryable: false,
};

/**
 * Creates the session of a sub-agent. Its input is taken from the committed call that it carries out, never from the
 * request. `limit`: the session is created as failed, because the run has too many sub-agents.
 *
 * In this order: this run already began (same reply) · the parent's run is active · the call is open and was committed
 * for exactly this session, run and agent.
 */
export function beginChild(
  child: Session,
  { child: { runId, agent }, parent: by, now }: Stored<BeginChild>,
): BeginChildReply {
  const { runId: parentRunId, toolCallId } = by;
  const parent = childPartOf(by.sessionId);
  if (child.record?.run.id === runId) {
    return { kind: child.record.parent?.isOverLimit === true ? 'limit' : 'begun' };
  }
  const above = child.tree.session(parent);
  if (!isActive(above, parentRunId)) return { kind: 'superseded' };
  const call = above.calls.get(toolCallId);
  if (call?.state !== 'open' || call.child?.part !== child.part) return { kind: 'refused' };
  if (call.child.runId !== runId || call.child.agent !== agent) return { kind: 'refused' };

  const { conversation, log } = child.tree;
  const { existing: top } = conversation;
  const { sequence } = log;
  const isOverLimit = top.run.children >= LIMITS.subAgents;
  const record = newRecord(now);
  child.record = {
    ...record,
    agent,
    owner: top.owner,
    tenant: top.tenant,
    born: runId,
    visible: 1,
    turn: { ...record.turn, n: 1, sequence },
    run: {
      ...record.run,
      id: runId,
      n: 1,
      status: 'starting',
      started: now,
      sequence,
      paused: sequence,
    },
    parent: { part: parent, runId: parentRunId, toolCallId, ...(isOverLimit && { isOverLimit }) },
  };
  const brief = above.content.get(ofCall('brief', toolCallId)) ?? '{}';
  pushRows(child, brief);
  conversation.children.set(child.part, top.run.id);
  conversation.index.set(carrierName(parent, toolCallId), child.part);
  if (isOverLimit) {
    child.existing.run.status = 'failed';
    child.existing.run.error = TOO_MANY;
    return { kind: 'limit' };
  }
  top.run.children += 1;
  top.updated = now;
  writeChunk(above, authorOf(above, now), 'subagent_start', {
    subAgentType: agent,
    subSessionId: child.id,
    callId: toolCallId,
  });
  return { kind: 'begun' };
}

/** Names the sub-agent of a call in the conversation's index. @param part of the call's session */
export function carrierName(part: string, toolCallId: string): string {
  return `by:${part} ${toolCallId}`;
}
