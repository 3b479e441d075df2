import { HelixError } from '../protocol/errors.js';
import { isSessionId } from '../protocol/ids.js';
import type { SessionRecord, SessionView, UserMessage } from '../stores/session-store.js';
import { attachReader, readProfile, replayTurn } from './attach-turn.js';
import type { ChatDeps, ChatReply, HandleChatStreamParams } from './chat-reply.js';
import { continueTurn } from './continue-turn.js';
import { extractResumeIntent, hasAnswers } from './extract-resume-intent.js';
import { ANONYMOUS, isOwner, type Caller } from './ownership.js';
import { submitAnswers } from './submit-answers.js';
import { createTurnFrames } from './turn-frames.js';
import { toTrailingUserMessages, toUserMessages } from './user-messages.js';

/**
 * Decides how a chat request is answered. What was asked for is checked before anything is stored.
 *
 * @throws HelixError for every refusal
 */
export async function decideReply(
  deps: ChatDeps,
  params: HandleChatStreamParams,
): Promise<ChatReply> {
  if (!isSessionId(params.sessionId)) {
    throw new HelixError('validation_error', 'The session id must match [A-Za-z0-9_-]{1,128}.');
  }
  const isReading = isRead(params);
  const said = isReading ? [] : readUserMessages(deps, params);
  const record = await deps.store.load(params.sessionId);
  const isForeign = record !== undefined && !isOwner(record, toCaller(params));
  if (isReading) {
    return record === undefined || isForeign
      ? { kind: 'nothing' }
      : attachReader(deps, record, params);
  }
  if (isForeign) throw notFound();
  return answerPost(deps, params, record, said);
}

async function answerPost(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  record: SessionRecord | undefined,
  said: UserMessage[],
): Promise<ChatReply> {
  const agent = chooseAgent(deps, params, record, said.length > 0);
  const mayAnswer = said.length === 0 || record?.stream === 'paused' || record?.stream === 'active';
  if (mayAnswer && hasAnswers(params.messages)) {
    const view = record && (await deps.store.readView(params.sessionId));
    const found = extractResumeIntent(params.messages, view?.openCalls ?? [], view?.record.runId);
    const submission = await submitAnswers(deps, params, found);
    const isAnswer = found.intents.length + found.rejected.length > 0;
    if (said.length === 0 && isAnswer) return continueTurn(deps, params, view, submission);
  }
  if (said.length > 0 && agent !== undefined) return startTurn(deps, params, agent, said);
  throw new HelixError('nothing_to_do', 'There is no new message and no answer in this request.');
}

/** Begins a turn; what was accepted before is shown again instead. */
async function startTurn(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  agent: string,
  messages: UserMessage[],
): Promise<ChatReply> {
  const { sessionId } = params;
  const { userId: owner, tenantId: tenant } = toCaller(params);
  const result = await deps.executor.execute({
    sessionId,
    agent,
    owner,
    ...(tenant !== undefined && { tenant }),
    messages,
  });
  switch (result.kind) {
    case 'begun': {
      const { runId, messageId, startSequence } = result.run;
      const span = {
        sessionId,
        messageId,
        from: startSequence,
        until: { kind: 'live' as const, after: startSequence },
        isTail: false,
        profile: readProfile(params),
      };
      return {
        kind: 'stream',
        runId,
        frames: (signal) => createTurnFrames(deps.streamManager, span, signal),
      };
    }
    case 'accepted':
      return repeatTurn(deps, params, messages);
    case 'busy':
      throw new HelixError('agent_already_running', 'The agent is still answering.');
    case 'conflict':
      throw new HelixError(
        'message_conflict',
        'This message was sent before, with other content.',
        {
          detail: { messageId: result.messageId },
        },
      );
    case 'agent_mismatch':
      throw agentMismatch(result.agent);
    case 'foreign':
      throw notFound();
  }
}

/** All messages were accepted before: the turn they began, if it is the newest. */
async function repeatTurn(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  messages: UserMessage[],
): Promise<ChatReply> {
  const view = await deps.store.readView(params.sessionId);
  if (view === undefined) throw notFound();
  if (!isOfNewestTurn(view, messages)) {
    const text = 'This message was answered before; load the conversation again.';
    throw new HelixError('client_out_of_step', text);
  }
  return replayTurn(deps, view, readProfile(params));
}

function isOfNewestTurn({ record, rows }: SessionView, messages: UserMessage[]): boolean {
  const ids = new Set(messages.map(({ id }) => id));
  return rows.slice(record.turnStartRow).some((row) => row.role === 'user' && ids.has(row.id));
}

function readUserMessages(deps: ChatDeps, params: HandleChatStreamParams): UserMessage[] {
  if (params.trigger === 'regenerate-message') {
    throw new HelixError('validation_error', 'regenerate-message is not supported yet.');
  }
  return toUserMessages(toTrailingUserMessages(params.messages), {
    metadata: params.metadata,
    allowedFileHosts: deps.allowedFileHosts,
  });
}

/** The session's agent, or on first contact the one asked for; undefined if none is needed. */
function chooseAgent(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  record: SessionRecord | undefined,
  isNeeded: boolean,
): string | undefined {
  if (params.agent !== undefined && !deps.agents.has(params.agent)) {
    throw new HelixError('agent_not_found', 'There is no agent of that name.');
  }
  if (record !== undefined) {
    if (params.agent !== undefined && params.agent !== record.agent)
      throw agentMismatch(record.agent);
    if (!deps.agents.has(record.agent)) {
      throw new HelixError('agent_not_found', "This conversation's agent is not available.");
    }
    return record.agent;
  }
  const agent = params.agent ?? deps.defaultAgent;
  if (isNeeded && agent === undefined) {
    throw new HelixError('agent_required', 'Name an agent: a new conversation needs one.');
  }
  return agent;
}

function isRead({ request, messages }: HandleChatStreamParams): boolean {
  return request === undefined ? messages.length === 0 : request.method === 'GET';
}

function toCaller({ userId = ANONYMOUS, tenantId }: HandleChatStreamParams): Caller {
  return tenantId === undefined ? { userId } : { userId, tenantId };
}

function notFound(): HelixError {
  return new HelixError('not_found', 'There is no such conversation.');
}

function agentMismatch(agent: string): HelixError {
  return new HelixError('agent_mismatch', 'This conversation is with another agent.', {
    detail: { agent },
  });
}
