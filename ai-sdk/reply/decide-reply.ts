import { HelixError } from '../../protocol/errors.js';
import { isSessionId } from '../../protocol/ids.js';
import type { UserMessage } from '../../stores/contract/runs.js';
import type { SessionRecord, SessionView } from '../../stores/contract/sessions.js';
import { toPendingCalls } from '../../stores/record/session-summaries.js';
import { attachReader } from './attach-turn.js';
import type { ChatDeps, ChatReply, HandleChatStreamParams } from './types.js';
import { continueTurn } from './continue-turn.js';
import { editTurn, regenerateTurn } from './redo-turn.js';
import { extractResumeIntent, hasAnswers, isCutShort, type ResumableState } from './resume-intent.js';
import { agentMismatch, copyIsBehind, findSession, isAddressable, isOwner, notFound, requireAddressable, toCaller } from './access.js';
import { startTurn } from './start-turn.js';
import { submitAnswers } from './submit-answers.js';
import { toTrailingUserMessages, toUserMessages } from './user-messages.js';

/** Decides how a chat request is answered. What was asked for is checked before anything is stored. */
export async function decideReply(
  deps: ChatDeps,
  asked: HandleChatStreamParams,
): Promise<ChatReply> {
  let record: SessionRecord | undefined;
  try {
    checkShownSessionId(asked.sessionId);
    const isReading = isRead(asked);
    const said = isReading ? [] : readUserMessages(deps, asked);
    const caller = toCaller(asked);
    const { storedId, record: found } = await findSession(deps.stateStore, asked.sessionId, caller);
    const params = { ...asked, sessionId: storedId };
    const isForeign = found !== undefined && !isOwner(found, caller);
    // Strangers learn nothing, and stock clients take a refused GET for an error.
    if (isReading && (found === undefined || isForeign)) return { kind: 'nothing' };
    if (isForeign) throw notFound();
    record = found && (await settleOverdue(deps, found));
    const reply =
      record !== undefined && isReading
        ? await attachReader(deps, record, params)
        : await answerPost(deps, params, record, said);
    // What waits for its turn has no run of its own yet.
    return { ...runOf(record), ...reply };
  } catch (error) {
    if (!HelixError.isInstance(error)) throw error;
    return { ...runOf(record), kind: 'refused', error };
  }
}

function runOf(record: SessionRecord | undefined): { runId?: string } {
  return record === undefined ? {} : { runId: record.runId };
}

async function answerPost(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  record: SessionRecord | undefined,
  said: UserMessage[],
): Promise<ChatReply> {
  const agent = chooseAgent(deps, params, record, said.length > 0);
  if (params.trigger === 'regenerate-message') {
    const reply = await regenerateTurn(deps, params, said);
    if (reply !== undefined) return reply;
  } else if (said.some(({ id }) => id === params.messageId)) {
    const view = record && (await deps.stateStore.sessions.view(params.sessionId));
    const reply = await editTurn(deps, params, view, said);
    if (reply !== undefined) return reply;
  }
  let { busy } = params;
  const mayAnswer = said.length === 0 || record?.stream === 'paused' || record?.stream === 'active';
  if (mayAnswer && hasAnswers(params.messages)) {
    const view = record && (await deps.stateStore.sessions.view(params.sessionId));
    const state = view === undefined ? null : toResumableState(view);
    const found = extractResumeIntent(params.messages, state, view?.record.runId);
    const submission = await submitAnswers(deps, params, found);
    const isAnswer = found.intents.length + found.rejected.length > 0;
    if (said.length === 0 && isAnswer) return continueTurn(deps, params, view, submission);
    // The run is at work because of this very request: what it says beside is not refused for that.
    const isRefused = (deps.busyPolicy ?? 'reject') === 'reject';
    if (submission.resumedAt !== undefined && isRefused) busy ??= 'queue';
  }
  if (said.length > 0 && agent !== undefined) {
    return startTurn(deps, { ...params, busy }, agent, said);
  }
  if (record !== undefined && isCutShort(record, params.messages.at(-1))) throw copyIsBehind();
  throw new HelixError('nothing_to_do', 'There is no new message and no answer in this request.');
}

function toResumableState({ record, rows, openCalls }: SessionView): ResumableState {
  const pendingClientToolCalls = toPendingCalls(openCalls);
  return { pendingClientToolCalls, messages: rows, turnStartRow: record.turnStartRow };
}

/** Nobody is shown an open question whose time is over, whoever else is asleep. */
async function settleOverdue(
  deps: Pick<ChatDeps, 'executor' | 'stateStore'>,
  record: SessionRecord,
): Promise<SessionRecord> {
  const { sessionId, deadline = Infinity } = record;
  if (deadline > Date.now() || !(await deps.executor.expireCalls(sessionId))) return record;
  return (await deps.stateStore.sessions.read(sessionId)) ?? record;
}

function checkShownSessionId(sessionId: string): void {
  if (isSessionId(sessionId)) return;
  throw new HelixError('validation_error', 'The session id must match [A-Za-z0-9_-]{1,128}.');
}

function readUserMessages(deps: ChatDeps, params: HandleChatStreamParams): UserMessage[] {
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
  if (params.agent !== undefined && !isAddressable(deps.agents, params.agent)) {
    throw new HelixError('agent_not_found', 'There is no agent of that name.');
  }
  if (record !== undefined) {
    if (params.agent !== undefined && params.agent !== record.agent)
      throw agentMismatch(record.agent);
    requireAddressable(deps.agents, record.agent);
    return record.agent;
  }
  const agent = params.agent ?? deps.defaultAgent;
  if (isNeeded && agent === undefined) {
    throw new HelixError('agent_required', 'Name an agent: a new conversation needs one.');
  }
  return agent;
}

function isRead({ request, messages }: HandleChatStreamParams): boolean {
  if (request === undefined) return messages.length === 0;
  return request.method === 'GET' || request.method === 'HEAD';
}
