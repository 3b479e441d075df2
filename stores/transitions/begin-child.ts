import { byteLength, formatInt, redis } from './lib/host.js';
import { readCall, readChildRun } from './lib/calls.js';
import { ownChunk, speakerOf } from './lib/chunks.js';
import { text } from './lib/json.js';
import { closeLog, openLog, write } from './lib/log.js';
import { only } from './lib/request.js';
import { addToField, isTerminal, num, readRoot, setFields } from './lib/root.js';
import { carrierField, idOf, sessionAt, type Session } from './lib/session.js';
import { countStored } from './lib/size.js';

export interface BeginChildRequest {
  runId: string;
  agent: string;
  /**
   * Part of the parent's session id after the conversation's id; '' if the parent is the
   * conversation itself.
   */
  parent: string;
  parentRunId: string;
  toolCallId: string;
  now: number;
  /** Maximum number of sub-agents that one run of the conversation may start. */
  most: number;
}

const TOO_MANY =
  '{"code":"subagent_limit","message":"Too many sub-agents were started.","retryable":false}';

/**
 * begin child: creates the session of a sub-agent. Its input is taken from the committed call that
 * it carries out, never from the request.
 *
 * Checks, in this order: this run already began (same reply) · the parent's run is active · the
 * call is open and was committed for exactly this session, run and agent.
 *
 * @returns `begun` · `limit`, the session is created as failed because the run has too many
 * sub-agents · `superseded` · `refused`
 */
export function beginChild(child: Session, request: BeginChildRequest): string {
  const { runId, agent, parent, toolCallId, now } = request;
  const own = readRoot(child, ['run', 'limit']);
  if (own.run === runId) return only(own.limit === undefined ? 'begun' : 'limit');
  const above = sessionAt(child, parent);
  const up = readRoot(above, ['run', 'status', 'agent', 'committed']);
  if (up.run !== request.parentRunId || isTerminal(up.status)) return only('superseded');
  const call = readCall(above, toolCallId, ['state', 'child', 'brief']);
  if (call.state !== 'open' || call.child !== child.part) return only('refused');
  const expected = readChildRun(above, toolCallId);
  if (expected?.runId !== runId || expected.agent !== agent) return only('refused');

  const { conversation } = child;
  const top = readRoot(conversation, ['run', 'owner', 'tenant', 'seq', 'children']);
  const isOver = num(top.children) >= request.most;
  const seq = top.seq ?? '0';
  const at = formatInt(now);
  setFields(child, ['run', runId, 'status', isOver ? 'failed' : 'starting', 'runN', '1']);
  setFields(child, ['committed', '0', 'turn', '1', 'messageId', '', 'agent', agent]);
  setFields(child, ['owner', top.owner ?? '', 'tenant', top.tenant ?? '', 'created', at]);
  setFields(child, ['born', runId, 'turnSeq', seq, 'turnRow', '0', 'uiCount', '1']);
  setFields(child, ['pauseSeq', seq, 'claimed', '0', 'started', at, 'updated', at]);
  setFields(child, ['mode', 'new', 'runSeq', seq, 'fromStep', '0', 'parent', parent]);
  setFields(child, ['parentRun', request.parentRunId, 'parentCall', toolCallId]);
  setFields(child, ['rootRun', top.run ?? '']);
  redis.call('RPUSH', child.rows, call.brief ?? '');
  countStored(child, byteLength(call.brief ?? ''));
  redis.call('HSET', child.children, child.part, top.run ?? '');
  redis.call('HSET', child.owners, carrierField(parent, toolCallId), child.part);
  if (isOver) {
    setFields(child, ['limit', '1', 'error', TOO_MANY]);
    return only('limit');
  }
  addToField(conversation, 'children', 1);
  const log = openLog(child, top.seq);
  const speaker = speakerOf(above, up.agent, up.committed, now);
  const which = `"subAgentType":${text(agent)},"subSessionId":${text(idOf(child))}`;
  write(log, ownChunk(speaker, 'subagent_start', `${which},"callId":${text(toolCallId)}`));
  closeLog(log);
  setFields(conversation, ['updated', at]);
  return only('begun');
}
