import type { Response } from 'express';
import {
  findSession,
  isAddressable,
  isOwner,
  notFound,
  requireFiles,
  toReplyHeaders,
  toUserMessages,
  type Caller,
} from '../../ai-sdk/index.js';
import { readState } from '../../runs/agent-input.js';
import { refusal, runOfMessage, toRefusal } from '../../runs/refusals.js';
import type {
  AgentStarted,
  StartAgentBody,
  UserInputMessage,
  AgentStatus,
} from '../../protocol/agent-server.js';
import { HelixError } from '../../protocol/errors.js';
import type { PostedMessage } from '../../protocol/http.js';
import { toShownSessionId } from '../../protocol/ids.js';
import { toPerson } from '../../protocol/actor.js';
import type { RouteDeps } from '../../api/extension.js';
import type { SessionView } from '../../store/contract/sessions.js';
import { toNewestRun } from '../../runs/record/newest-run.js';
import { toPendingCalls } from '../../store/record/session-summaries.js';

interface StartParams {
  sessionId: string;
  body: StartAgentBody;
  caller: Caller;
  /** Gives ids to messages without one. */
  name: string;
}

/**
 * Starts a turn in a session of the caller, or in a new one. A repeated message gets the run that
 * it began the first time.
 *
 * @throws HelixError the refusals that `/agent/start` declares
 */
export async function startAgent(
  deps: RouteDeps,
  response: Response,
  { sessionId, body, caller, name }: StartParams,
): Promise<AgentStarted> {
  const { executor, agents, stateStore: store, allowedFileHosts } = deps;
  const { storedId, record: known } = await findSession(store, sessionId, caller);
  if (known !== undefined && !isOwner(known, caller)) throw notFound();
  response.set(toReplyHeaders(sessionId, known));
  const agent = body.agent ?? body.agentType ?? known?.agent ?? deps.defaultAgent;
  if (agent === undefined) throw new HelixError('agent_required', 'Name an agent.');
  if (!isAddressable(agents, agent)) throw refusal('agent_not_found');
  const { metadata, state, startAt } = body;
  const messages = toUserMessages(toPosted(body, name), { metadata, allowedFileHosts, sessionId });
  await requireFiles(store, caller, storedId, messages);
  const definition = agents.get?.(agent, { sessionId: storedId, userId: caller.userId });
  const result = await executor.execute({
    sessionId: storedId,
    agent,
    owner: caller.userId,
    tenant: caller.tenantId,
    messages,
    askers: [toPerson(caller.userId, caller)],
    state: state && definition ? readState(definition, state) : state,
    startAt,
  });
  if (result.kind === 'begun') return toStarted(sessionId, result.run.runId);
  if (result.kind !== 'accepted') throw toRefusal(sessionId, result);
  return toStarted(sessionId, await runOfMessage(store, storedId, messages.at(-1)?.id ?? ''));
}

/** Names a run by the ids that clients know. */
export function toStarted(storedId: string, runId: string): AgentStarted {
  const sessionId = toShownSessionId(storedId);
  return { sessionId, streamId: sessionId, runId };
}

function toPosted(
  { message, input = [], messageId }: StartAgentBody,
  name: string,
): PostedMessage[] {
  const given = message ?? input;
  const one = typeof given === 'string' ? { content: given, id: messageId } : given;
  const all = Array.isArray(one) ? one : [one];
  return all.map((each, at) => toPostedMessage(each, `${name}-${String(at)}`));
}

function toPostedMessage(
  { id, content, parts, metadata }: UserInputMessage,
  name: string,
): PostedMessage {
  return {
    role: 'user',
    id: id ?? name,
    ...(parts === undefined ? { content: content ?? '' } : { parts }),
    metadata,
  };
}

/** Returns the state of a session's newest run. @param isHeld true if it waits for its paused agent */
export function toAgentStatus(
  { record, rows, openCalls }: Pick<SessionView, 'record' | 'rows' | 'openCalls'>,
  { isHeld }: { isHeld: boolean },
): AgentStatus {
  const { sessionId, agent, runId, turn, status, stream, error, output, usage } = record;
  const { waitingFor, startAt } = toNewestRun(record, Date.now(), isHeld);
  const reply = rows.findLast((row) => row.role === 'assistant' && row.runId === runId);
  const parts = reply?.role === 'assistant' ? reply.parts : [];
  const pending = stream === 'paused' ? Object.values(toPendingCalls(openCalls)) : [];
  return {
    sessionId: toShownSessionId(sessionId),
    agent,
    run: {
      runId,
      turn,
      status,
      stepCount: record.committedStep,
      startedAt: record.runStartedAt,
      waitingFor,
      startAt,
      usage,
    },
    status,
    stream,
    latestSequence: record.sequence,
    messageId: record.messageId,
    turnStartSequence: record.turnStartSequence,
    pauseSequence: record.pauseSequence,
    pending: pending
      .filter(({ response }) => response === undefined)
      .map((call) => ({
        toolCallId: call.toolCallId,
        toolName: call.toolName,
        kind: call.kind,
        input: call.input,
        runId: call.runId,
        approvalId: call.approvalId,
        inputHash: call.inputHash,
        deadline: call.deadline,
        mayDecide: call.mayDecide,
      })),
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    error,
    output,
  };
}
