import { AgentAlreadyRunningError, type HelixError } from '../../protocol/errors.js';
import type { PostedMessage } from '../../protocol/http.js';
import type { Row } from '../../protocol/rows.js';
import { isTerminal } from '../../protocol/run.js';
import type { OpenCall } from '../../store/contract/call-record.js';
import type { UserMessage } from '../../store/contract/runs.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { toPendingCalls } from '../../store/record/session-summaries.js';
import { refusal } from '../../runs/refusals.js';
import { isAddressable, type AddressedAgents } from './access.js';
import {
  agentRequired,
  agentUnavailable,
  copyIsBehind,
  nothingToDo,
  notFound,
} from './refusals.js';
import {
  extractResumeIntent,
  hasAnswers,
  isCutShort,
  toLastStep,
  toResults,
  type ResumeIntents,
} from './resume-intent.js';
import { isSameContent } from './user-messages.js';

export interface ParsedRequest {
  /** True for GET and HEAD. */
  isRead: boolean;
  posted: readonly PostedMessage[];
  /** User messages at the end of `posted`, as a session accepts them. */
  messages: readonly UserMessage[];
  trigger?: string | undefined;
  messageId?: string | undefined;
  agent?: string | undefined;
}

/** The known state of the session that a request names. */
export interface KnownSession {
  isOwn: boolean;
  record: SessionRecord;
  /** Calls of the newest step. Read if the request may answer some of them. */
  openCalls?: OpenCall[] | undefined;
  /** Rows of the newest turn. Read if the request has results for calls that are not open. */
  turnRows?: Row[] | undefined;
  /** The transcript. Read if the request repeats a turn. */
  rows?: Row[] | undefined;
}

export interface Facts {
  request: ParsedRequest;
  session?: KnownSession | undefined;
  agents: AddressedAgents;
  /** The agent of new conversations, unless the request names one. */
  defaultAgent?: string | undefined;
}

export type Classified =
  | { kind: 'nothing' }
  | { kind: 'refuse'; error: HelixError }
  | { kind: 'attach'; record: SessionRecord }
  /** The turn is being repeated already: the client sees it from its beginning. */
  | { kind: 'replay' }
  /** Repeats the message's turn, or the newest; a run in progress is stopped. */
  | { kind: 'regenerate'; messageId?: string | undefined; stops?: SessionRecord }
  /**
   * Begins a turn with another version of a stored user message, which `messages` include; a run
   * that answers the stored version is stopped.
   */
  | { kind: 'edit'; messageId: string; messages: UserMessage[]; stops?: SessionRecord }
  /** The request answers calls without a new message. */
  | { kind: 'answer'; answers: ResumeIntents }
  /** The request brings new messages, stored after the answers that came with them. */
  | { kind: 'say'; agent: string; messages: readonly UserMessage[]; answers?: ResumeIntents };

export type Need = 'record' | 'calls' | 'transcript';

/** Returns the part of the session that classifying the request needs. Pure. */
export function toNeed({ isRead, posted, messages, trigger, messageId }: ParsedRequest): Need {
  if (isRead) return 'record';
  const isRedone = trigger === 'regenerate-message' || messages.some(({ id }) => id === messageId);
  if (isRedone) return 'transcript';
  return hasAnswers(posted) ? 'calls' : 'record';
}

/** Returns true if only the newest turn's rows can judge some posted results. Pure. */
export function needsTurnRows(
  { posted, messages }: ParsedRequest,
  { record, openCalls = [] }: KnownSession,
): boolean {
  if (!mayAnswer(messages, record)) return false;
  const open = new Set(Object.keys(toPendingCalls(openCalls)));
  return toResults(posted).some((toolCallId) => !open.has(toolCallId));
}

/** Classifies a request in this order: owner, agent, regenerate, edit, answers, messages. Pure. */
export function classify(facts: Facts): Classified {
  const { request, session } = facts;
  if (request.isRead) {
    // Stock clients treat a refused GET as an error, and strangers learn nothing.
    return session?.isOwn === true
      ? { kind: 'attach', record: session.record }
      : { kind: 'nothing' };
  }
  if (session?.isOwn === false) return refuse(notFound());
  const agent = chooseAgent(facts);
  if (typeof agent === 'object') return refuse(agent.refusal);
  return classifyRedo(facts) ?? classifyAnswers(facts, agent) ?? classifyMessages(facts, agent);
}

/** Returns the session's agent or, on first contact, the one that the request names. */
function chooseAgent(facts: Facts): string | undefined | { refusal: HelixError } {
  const { request, session, agents, defaultAgent } = facts;
  const { agent = session?.record.agent ?? defaultAgent } = request;
  if (request.agent !== undefined && !isAddressable(agents, request.agent)) {
    return { refusal: refusal('agent_not_found') };
  }
  if (session !== undefined) {
    const own = session.record.agent;
    if (agent !== own) return { refusal: refusal('agent_mismatch', { agent: own }) };
    return isAddressable(agents, own) ? own : { refusal: agentUnavailable() };
  }
  const isNeeded = agent === undefined && request.messages.length > 0;
  return isNeeded ? { refusal: agentRequired() } : agent;
}

function classifyRedo({ request, session }: Facts): Classified | undefined {
  if (session === undefined) return undefined;
  return request.trigger === 'regenerate-message'
    ? classifyRegenerate(request, session)
    : classifyEdit(request, session);
}

/** Returns undefined if the server has never accepted these messages, which makes them new. */
function classifyRegenerate(request: ParsedRequest, session: KnownSession): Classified | undefined {
  const { messages, messageId: named } = request;
  const { record, rows = [] } = session;
  const last = messages.at(-1)?.id;
  const ids = new Set(rows.map(idOf));
  const known = [named, last].find((id) => id !== undefined && ids.has(id));
  if (known === undefined && messages.length > 0) return undefined;
  const asked = rows
    .slice(0, rows.findIndex((row) => idOf(row) === known) + 1)
    .findLast((row) => row.role === 'user');
  // The page shows an edit that never arrived, or was refused: the answer must be to that. A page
  // that shows something else than a stored edit may be an old one.
  const isShown = asked !== undefined && asked.id === last && asked.edited !== true;
  const edit = isShown ? classifyEdit({ ...request, messageId: last }, session) : undefined;
  if (edit !== undefined) return edit;
  const repeat = classifyRepeat(known, { record, rows });
  if (repeat?.kind !== 'refuse') return repeat ?? { kind: 'regenerate', messageId: known };
  const abandoned = toAbandoned(known, { record, rows });
  return abandoned === undefined ? repeat : { kind: 'regenerate', messageId: known, ...abandoned };
}

/**
 * Returns the active run of the turn that a client regenerates or edits, and so has abandoned.
 * Undefined if messages wait: they would come first.
 */
function toAbandoned(
  messageId: string | undefined,
  { record, rows }: Pick<KnownSession, 'record' | 'rows'>,
): { stops: SessionRecord } | undefined {
  const isActive = !isTerminal(record.status) && record.stream !== 'paused';
  if (!isActive || record.queued > 0) return undefined;
  return isOfNewestTurn(messageId, { record, rows }) ? { stops: record } : undefined;
}

/**
 * Returns the response for repeating a turn while a run is active: a replay if that turn is being
 * repeated already. Undefined if the turn can be repeated now. Pure.
 */
export function classifyRepeat(
  messageId: string | undefined,
  { record, rows = [] }: Pick<KnownSession, 'record' | 'rows'>,
): Extract<Classified, { kind: 'replay' | 'refuse' }> | undefined {
  if (isTerminal(record.status)) return undefined;
  const isMeant = isOfNewestTurn(messageId, { record, rows });
  if (record.runMode === 'retry' && isMeant) return { kind: 'replay' };
  // A turn that waits for people is repeated without their answers.
  if (record.stream === 'paused') return undefined;
  return refuse(new AgentAlreadyRunningError(record.sessionId));
}

function isOfNewestTurn(
  messageId: string | undefined,
  { record, rows = [] }: Pick<KnownSession, 'record' | 'rows'>,
): boolean {
  if (messageId === undefined) return true;
  return rows.slice(record.turnStartRow).some((row) => idOf(row) === messageId);
}

/** Returns undefined if the session has no such message, or accepted this version before. */
function classifyEdit(
  { messages, messageId }: ParsedRequest,
  { record, rows = [] }: KnownSession,
): Classified | undefined {
  const edited = messages.find(({ id }) => id === messageId);
  const at = rows.findIndex((row) => row.role === 'user' && row.id === messageId);
  const known = rows[at];
  if (edited === undefined || known?.role !== 'user') return undefined;
  if (isSameContent(edited, known)) {
    // A late copy of an edit must not drop the turns since.
    const isLast = messages.at(-1) === edited;
    if (!isLast || at >= record.turnStartRow || known.edited === true) return undefined;
    // A person submitted the message unchanged: the page has dropped what followed.
    return classifyRepeat(messageId, { record, rows }) ?? { kind: 'regenerate', messageId };
  }
  const stored = new Set(rows.map((row) => (row.role === 'user' ? row.id : undefined)));
  // Earlier messages that the session does not know are sent along.
  const sent = messages.filter(({ id }) => id === edited.id || !stored.has(id));
  const abandoned = toAbandoned(edited.id, { record, rows });
  return { kind: 'edit', messageId: edited.id, messages: sent, ...abandoned };
}

function classifyAnswers(facts: Facts, agent: string | undefined): Classified | undefined {
  const { posted, messages } = facts.request;
  const record = facts.session?.record;
  if (!mayAnswer(messages, record) || !hasAnswers(posted)) return undefined;
  const answers = extractResumeIntent(posted, toResumableState(facts.session), record?.runId);
  if (answers.intents.length + answers.rejected.length === 0) return undefined;
  if (messages.length === 0) return { kind: 'answer', answers };
  if (agent === undefined) return undefined;
  return { kind: 'say', agent, messages, answers };
}

function classifyMessages({ request, session }: Facts, agent: string | undefined): Classified {
  const { posted, messages } = request;
  if (messages.length > 0 && agent !== undefined) return { kind: 'say', agent, messages };
  if (session !== undefined && isCutShort(session.record, posted.at(-1))) {
    return refuse(copyIsBehind());
  }
  // These are results of calls that nobody waits for any more; the page must learn that.
  const last = session === undefined || messages.length > 0 ? undefined : posted.at(-1);
  const results = last === undefined ? [] : toResults([{ ...last, parts: toLastStep(last) }]);
  // Every copy has the results of the server's own calls; no page gave those of the newest turn.
  const { openCalls = [], turnRows = [] } = session ?? {};
  const own = new Set(openCalls.map(({ spec }) => spec.toolCallId));
  for (const row of turnRows) if (row.role === 'tool') own.add(row.toolCallId);
  const stale = results.filter((toolCallId) => !own.has(toolCallId));
  if (stale.length === 0) return refuse(nothingToDo());
  const rejected = stale.map((toolCallId) => ({ toolCallId, reason: 'not-pending' as const }));
  return { kind: 'answer', answers: { intents: [], rejected, hasTrailingUserMessage: false } };
}

/** Returns false for new messages in a session at rest, where no call waits for an answer. */
function mayAnswer(
  messages: readonly UserMessage[],
  record: Pick<SessionRecord, 'stream'> | undefined,
): boolean {
  return messages.length === 0 || record?.stream === 'paused' || record?.stream === 'active';
}

function toResumableState(session: KnownSession | undefined) {
  if (session === undefined) return null;
  const { record, openCalls = [], rows, turnRows = [] } = session;
  const messages = rows?.slice(record.turnStartRow) ?? turnRows;
  return { pendingClientToolCalls: toPendingCalls(openCalls), messages };
}

function refuse(error: HelixError): Extract<Classified, { kind: 'refuse' }> {
  return { kind: 'refuse', error };
}

function idOf(row: Row): string | undefined {
  if (row.role === 'tool') return undefined;
  return row.role === 'user' ? row.id : row.messageId;
}
