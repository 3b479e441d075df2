import { HelixError } from '../../protocol/errors.js';
import { isSessionId } from '../../protocol/ids.js';
import type { UserMessage } from '../../store/contract/runs.js';
import { toCaller, isOwner, type Caller } from './access.js';
import { attachReader, replaySession } from './attach-turn.js';
import {
  classify,
  type Facts,
  type KnownSession,
  type Request,
  needsTurnRows,
  toNeed,
  type Need,
} from './classify.js';
import { continueTurn, submitAnswers, tellRejected, type Submission } from './continue-turn.js';
import { editTurn, regenerateTurn, startTurn, type Policy } from './start-turn.js';
import { requireFiles, saysSame, toTrailingUserMessages, toUserMessages } from './user-messages.js';
import { invalid, isOvertaken } from './refusals.js';
import { isCutShort, showsQuestion } from './resume-intent.js';
import type { ChatDeps, ChatReply, HandleChatStreamParams } from './types.js';
import { toStoredSessionId } from '../../store/record/stored-session-id.js';

/** Decides how a chat request is answered. The request is checked before anything is stored. */
export async function decideReply(
  deps: ChatDeps,
  params: HandleChatStreamParams,
): Promise<ChatReply> {
  let runId: string | undefined;
  try {
    if (!isSessionId(params.sessionId)) {
      throw invalid('The session id must match [A-Za-z0-9_-]{1,128}.');
    }
    const request = toRequest(deps, params);
    const { storedId, session } = await readSession(deps, params.sessionId, {
      request,
      caller: toCaller(params),
    });
    // Strangers must not learn that there is a run.
    if (session?.isOwn === true) ({ runId } = session.record);
    const reply = await act(
      deps,
      { ...params, sessionId: storedId },
      toFacts(deps, request, session),
    );
    // Messages that wait for their turn have no run of their own yet.
    return { runId, ...reply };
  } catch (error) {
    if (!HelixError.isInstance(error)) throw error;
    return { runId, kind: 'refused', error };
  }
}

async function act(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  facts: Facts,
): Promise<ChatReply> {
  const ask = classify(facts);
  switch (ask.kind) {
    case 'nothing':
      return { kind: 'nothing' };
    case 'refuse':
      throw ask.error;
    case 'attach':
      return attachReader(deps, params, ask.record);
    case 'replay':
      return replaySession(deps, params);
    case 'regenerate':
      return regenerateTurn(deps, params, ask);
    case 'edit':
      await requireFiles(deps.stateStore, toCaller(params), params.sessionId, ask.messages);
      return editTurn(deps, params, ask).catch((error: unknown) =>
        actAgain(deps, params, facts, error),
      );
    case 'answer': {
      const submission = await submitAnswers(deps, params, facts.session, ask.answers);
      return continueTurn(deps, params, facts.session, submission);
    }
    case 'say': {
      const { agent, messages, answers } = ask;
      await requireFiles(deps.stateStore, toCaller(params), params.sessionId, messages);
      const submission = answers && (await submitAnswers(deps, params, facts.session, answers));
      const policy = await toPolicy(deps, params, facts, { messages, submission });
      const reply = await startTurn(deps, params, { agent, messages, ...policy });
      return tellRejected(reply, submission?.rejected);
    }
  }
}

/** Chooses what happens to messages that arrive during a reply, unless the request decides. */
async function toPolicy(
  { busyPolicy, stateStore: { sessions } }: ChatDeps,
  { busy }: HandleChatStreamParams,
  { request, session }: Facts,
  {
    messages,
    submission,
  }: { messages: readonly UserMessage[]; submission: Submission | undefined },
): Promise<Policy> {
  const reject = { policy: 'reject' } as const;
  if (busy !== undefined) return { policy: busy };
  if (busyPolicy !== undefined && busyPolicy !== 'reject') return { policy: busyPolicy };
  // This very request made the run active, so its messages are not refused.
  if (submission?.resumedAt !== undefined) return { policy: 'queue' };
  if (busyPolicy !== undefined) return reject;
  const copy = request.posted.findLast(({ role }) => role !== 'user');
  if (session === undefined || !isCutShort(session.record, copy)) return reject;
  const { sessionId, turnStartRow, runId } = session.record;
  const rows = await sessions.rows(sessionId, turnStartRow);
  // A page that shows the question has the reply up to it; another person may have answered.
  if (showsQuestion(copy, rows)) return reject;
  // A second click on Send posts the same message again.
  if (messages.some((message) => rows.some((row) => saysSame(message, row)))) return reject;
  // `stop()` of a stock page only closes its connection; the next post shows that the page gave up
  // the reply.
  return { policy: 'interrupt', interrupts: runId };
}

/** Handles an edit that was posted twice: the second is treated like a message accepted before. */
async function actAgain(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  { request }: Facts,
  error: unknown,
): Promise<ChatReply> {
  if (!isOvertaken(error)) throw error;
  const view = await deps.stateStore.sessions.view(params.sessionId);
  if (view === undefined) throw error;
  const facts = toFacts(deps, request, { isOwn: true, ...view });
  if (classify(facts).kind === 'edit') throw error;
  return act(deps, params, facts);
}

/** @throws HelixError `validation_error` or `message_too_large` for user messages that are refused */
function toRequest(deps: ChatDeps, params: HandleChatStreamParams): Request {
  const { messages: posted, trigger, messageId, agent, metadata, request } = params;
  const isRead =
    request === undefined
      ? posted.length === 0
      : request.method === 'GET' || request.method === 'HEAD';
  const { allowedFileHosts } = deps;
  const trailing = isRead ? [] : toTrailingUserMessages(posted);
  const { sessionId } = params;
  const messages = toUserMessages(trailing, { metadata, allowedFileHosts, sessionId });
  return { isRead, posted, messages, trigger, messageId, agent };
}

function toFacts(
  { agents, defaultAgent }: ChatDeps,
  request: Request,
  session: KnownSession | undefined,
): Facts {
  return { request, session, agents, defaultAgent };
}

type Deps = Pick<ChatDeps, 'executor' | 'stateStore'>;

interface LocatedSession {
  /** Id under which the session is stored or would be stored. */
  storedId: string;
  /** Absent if the session does not exist; a stranger's session has its record only. */
  session?: KnownSession | undefined;
}

/**
 * Reads the session once, with open calls if the request may answer some. More reads follow if
 * needed: the transcript for a repeated turn (once the owner is known), the newest turn's rows for
 * results of closed calls, the session after a passed deadline.
 */
async function readSession(
  deps: Deps,
  sessionId: string,
  { request, caller }: { request: Request; caller: Caller },
): Promise<LocatedSession> {
  const { sessions } = deps.stateStore;
  const owner = { owner: caller.userId, tenant: caller.tenantId };
  const need = toNeed(request);
  const storedId = toStoredSessionId(sessionId, caller.tenantId);
  const readFirst = async (): Promise<Omit<KnownSession, 'isOwn'> | undefined> => {
    if (need === 'calls') return sessions.withCalls(storedId, owner);
    const record = await sessions.read(storedId);
    return record && { record };
  };
  const found = await readFirst();
  if (found === undefined) return { storedId };
  if (!isOwner(found.record, caller)) {
    return { storedId, session: { isOwn: false, record: found.record } };
  }
  const current = (await expireOverdue(deps, found)) ? await readFirst() : found;
  const session = current && (await readMore(deps, { ...current, isOwn: true }, request, need));
  return { storedId, session };
}

/** Settles expired questions, so that no page sees one as open even if no worker runs. */
async function expireOverdue({ executor }: Deps, { record }: Omit<KnownSession, 'isOwn'>) {
  const { sessionId, deadline = Infinity } = record;
  return deadline <= Date.now() && (await executor.expireCalls(sessionId));
}

async function readMore(
  { stateStore: { sessions } }: Deps,
  session: KnownSession,
  request: Request,
  need: Need,
): Promise<KnownSession | undefined> {
  const { sessionId, turnStartRow } = session.record;
  if (need === 'transcript') {
    const view = await sessions.view(sessionId);
    return view && { isOwn: true, record: view.record, openCalls: view.openCalls, rows: view.rows };
  }
  if (need === 'record' || !needsTurnRows(request, session)) return session;
  return { ...session, turnRows: await sessions.rows(sessionId, turnStartRow) };
}
