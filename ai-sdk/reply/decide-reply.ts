import { HelixError } from '../../protocol/errors.js';
import { isSessionId } from '../../protocol/ids.js';
import type { UserMessage } from '../../store/contract/runs.js';
import { toStoredSessionId } from '../../store/record/stored-session-id.js';
import { isOwner, toCaller } from './access.js';
import { attachReader, replayTurn } from './attach-turn.js';
import {
  classify,
  needsTurnRows,
  toNeed,
  type Facts,
  type KnownSession,
  type ParsedRequest,
} from './classify.js';
import { continueTurn, submitAnswers, withRejections, type Submission } from './continue-turn.js';
import { invalid, isOvertaken, notFound } from './refusals.js';
import { isCutShort, showsQuestion } from './resume-intent.js';
import { editTurn, regenerateTurn, startTurn, type Policy } from './start-turn.js';
import type { Chat, ChatDeps, ChatReply, HandleChatStreamParams } from './types.js';
import {
  hasSameContent,
  toShownMessages,
  toTrailingUserMessages,
  withFiles,
} from './user-messages.js';

export async function decideReply(
  deps: ChatDeps,
  params: HandleChatStreamParams,
): Promise<ChatReply> {
  let runId: string | undefined;
  try {
    if (!isSessionId(params.sessionId)) {
      throw invalid('The session id must match [A-Za-z0-9_-]{1,128}.');
    }
    const caller = toCaller(params);
    const sessionId = toStoredSessionId(params.sessionId, caller.tenantId);
    const chat = { deps, params, caller, sessionId };
    const request = await parseRequest(chat);
    const session = await readSession(chat, request);
    // Strangers must not learn that there is a run.
    if (session?.isOwn === true) ({ runId } = session.record);
    const reply = await act(chat, request, session);
    // Messages that wait for their turn have no run of their own yet.
    return { runId, ...reply };
  } catch (error) {
    if (!HelixError.isInstance(error)) throw error;
    return { runId, kind: 'refused', error };
  }
}

async function act(
  chat: Chat,
  request: ParsedRequest,
  session: KnownSession | undefined,
): Promise<ChatReply> {
  const { caller, sessionId } = chat;
  const { agents, defaultAgent, stateStore } = chat.deps;
  const facts: Facts = { request, session, agents, defaultAgent };
  const wanted = classify(facts);
  switch (wanted.kind) {
    case 'nothing':
      return { kind: 'nothing' };
    case 'refuse':
      throw wanted.error;
    case 'attach':
      return attachReader(chat, wanted.record);
    case 'replay': {
      const view = await stateStore.sessions.view(sessionId, undefined, 'turn');
      if (view === undefined) throw notFound();
      return replayTurn(chat, view);
    }
    case 'regenerate':
      return regenerateTurn(chat, wanted);
    case 'edit': {
      const messages = await withFiles(stateStore, caller, sessionId, wanted);
      return editTurn(chat, { ...wanted, messages }).catch((error: unknown) =>
        actAgain(chat, facts, error),
      );
    }
    case 'answer':
      return continueTurn(chat, session, await submitAnswers(chat, session, wanted.answers));
    case 'say': {
      const { agent, answers } = wanted;
      const messages = await withFiles(stateStore, caller, sessionId, wanted);
      const submission = answers && (await submitAnswers(chat, session, answers));
      const policy = await toPolicy(chat, facts, messages, submission);
      const reply = await startTurn(chat, { agent, messages, ...policy });
      return withRejections(reply, submission?.rejected);
    }
  }
}

/** Chooses what happens to messages that arrive during a reply, unless the request decides. */
async function toPolicy(
  { deps: { busyPolicy, stateStore }, params: { busy } }: Chat,
  { request, session }: Facts,
  messages: readonly UserMessage[],
  submission: Submission | undefined,
): Promise<Policy> {
  const reject = { policy: 'reject' } as const;
  if (busy !== undefined) return { policy: busy };
  if (busyPolicy !== undefined && busyPolicy !== 'reject') return { policy: busyPolicy };
  // This very request made the run active, so its messages are not refused. Their page cannot show
  // what the run asks next, so they withdraw it, like messages that arrive while people are asked.
  if (submission?.resumedAt !== undefined)
    return { policy: 'queue', withdraws: session?.record.runId };
  if (busyPolicy !== undefined) return reject;
  const copy = request.posted.findLast(({ role }) => role !== 'user');
  if (session === undefined || !isCutShort(session.record, copy)) return reject;
  const { sessionId, turnStartRow, runId } = session.record;
  const rows = await stateStore.sessions.rows(sessionId, turnStartRow);
  // A page that shows the question has the reply up to it; another person may have answered.
  if (showsQuestion(copy, rows)) return reject;
  // A second click on Send posts the same message again.
  if (messages.some((message) => rows.some((row) => hasSameContent(message, row)))) return reject;
  // `stop()` of a stock page only closes its connection; the next post shows that the page gave up
  // the reply.
  return { policy: 'interrupt', interrupts: runId };
}

/** Handles an edit that was posted twice: the second is treated like a message accepted before. */
async function actAgain(chat: Chat, facts: Facts, error: unknown): Promise<ChatReply> {
  if (!isOvertaken(error)) throw error;
  const view = await chat.deps.stateStore.sessions.view(chat.sessionId);
  if (view === undefined) throw error;
  const session = { isOwn: true, ...view };
  if (classify({ ...facts, session }).kind === 'edit') throw error;
  return act(chat, facts.request, session);
}

/** @throws HelixError `validation_error` or `message_too_large` for user messages that are refused */
async function parseRequest({ deps, params }: Chat): Promise<ParsedRequest> {
  const { messages: posted, trigger, messageId, agent, metadata, request, sessionId } = params;
  const isRead =
    request === undefined
      ? posted.length === 0
      : request.method === 'GET' || request.method === 'HEAD';
  const { allowedFileHosts } = deps;
  const trailing = isRead ? [] : toTrailingUserMessages(posted);
  const options = { metadata, allowedFileHosts, sessionId, editedId: messageId };
  const messages = await toShownMessages(trailing, options);
  return { isRead, posted, messages, trigger, messageId, agent };
}

/**
 * Reads the session once, with open calls if the request may answer some; a stranger's session has
 * its record only. More reads follow if needed: the transcript for a repeated turn (once the owner
 * is known), the newest turn's rows for results of closed calls, the session after a passed
 * deadline.
 */
async function readSession(chat: Chat, request: ParsedRequest): Promise<KnownSession | undefined> {
  const { deps, caller, sessionId } = chat;
  const { sessions } = deps.stateStore;
  const need = toNeed(request);
  const readFirst = async (): Promise<KnownSession | undefined> => {
    const owner = { owner: caller.userId, tenant: caller.tenantId };
    if (need === 'calls') {
      const found = await sessions.withCalls(sessionId, owner);
      return found && { ...found, isOwn: isOwner(found.record, caller) };
    }
    const record = await sessions.read(sessionId);
    return record && { record, isOwn: isOwner(record, caller) };
  };
  let session = await readFirst();
  if (session?.isOwn !== true) return session && { isOwn: false, record: session.record };
  // Expired questions are settled, so that no page sees one as open even if no worker runs.
  const { deadline = Infinity, turnStartRow } = session.record;
  const isOverdue = deadline <= Date.now() && (await deps.executor.expireCalls(sessionId));
  if (isOverdue) session = await readFirst();
  if (session === undefined || need === 'record') return session;
  if (need === 'transcript') {
    const view = await sessions.view(sessionId);
    return view && { isOwn: true, record: view.record, openCalls: view.openCalls, rows: view.rows };
  }
  if (!needsTurnRows(request, session)) return session;
  return { ...session, turnRows: await sessions.rows(sessionId, turnStartRow) };
}
