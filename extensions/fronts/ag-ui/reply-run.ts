import { type Identity, type RouteDeps, untilExpiry } from '../../../api/extension.js';
import {
  buildSnapshot,
  decideReply,
  findSession,
  isOwner,
  nothingToDo,
  readStateAt,
  StreamBrokenError,
  type ChatReply,
  type HandleChatStreamParams,
} from '../../../ai-sdk/index.js';
import type { AgUiEvent, AgUiInput, AgUiInterrupt, AgUiOutcome } from './protocol.js';
import type { HelixError } from '../../../protocol/errors.js';
import type { PendingQuestion } from '../../../protocol/replies.js';
import type { SessionCalls } from '../../../store/contract/sessions.js';
import {
  readAnswerable,
  readOwnCalls,
  readParts,
  requireTaken,
  toUsageSince,
  type ReplyEnd,
} from '../replies.js';
import { AgUiEvents, type TailPlace } from './events-of.js';
import { findLastShown, toShownMessages } from './shown-messages.js';

const PROTOCOL_VERSION = '1.0';

export interface AgUiRun {
  deps: RouteDeps;
  caller: Identity;
  input: AgUiInput;
  params: HandleChatStreamParams;
  /** The session before the request; undefined if it begins one. */
  before: SessionCalls | undefined;
  /** Calls whose results the client has sent. */
  answered: ReadonlySet<string>;
}

/** The opening events of a run and the decision about its reply. */
export interface Begun {
  opening: AgUiEvent[];
  decided: Exclude<ChatReply, { kind: 'refused' }>;
  /** Calls whose results the client keeps. A snapshot replaces the client's copy, and then there are none. */
  known: ReadonlySet<string>;
}

/**
 * Begins or continues a turn. A request without news gets the stored conversation and follows the current
 * turn. Results of the server's own calls, which every copy contains, are not news.
 *
 * @throws HelixError a refusal
 */
export async function beginRun(run: AgUiRun): Promise<Begun> {
  const { deps, params, caller } = run;
  const request = (method: 'GET' | 'POST') => ({ method, headers: new Headers() });
  const posted = await decideReply(deps, { ...params, request: request('POST') });
  const decided = isOfCopy(run, posted)
    ? { kind: 'refused' as const, error: nothingToDo() }
    : posted;
  if (decided.kind === 'refused') {
    if (!isNothingNew(run, decided.error)) throw decided.error;
    const snapshot = await buildSnapshot(
      { ...deps, executor: { runs: deps.executor } },
      { sessionId: params.sessionId, caller, includePartialContent: false },
    );
    if (snapshot === null) throw decided.error;
    const follow = { ...params, messages: [], request: request('GET') };
    const followed = await decideReply(deps, follow);
    if (followed.kind === 'refused') throw followed.error;
    const { messageId, after } = followed.kind === 'stream' ? followed : {};
    // The reply shows the current turn from its beginning, so the snapshot leaves it out.
    const messages = snapshot.messages.filter(({ id }) => id !== messageId);
    const opening: AgUiEvent[] = [
      { type: 'MESSAGES_SNAPSHOT', messages: toShownMessages(messages, idsOfResults(run)) },
      ...(await readState(run, after)),
    ];
    return { opening, decided: followed, known: new Set() };
  }
  if (decided.kind === 'stream') requireTaken(decided);
  const after = decided.kind === 'stream' ? decided.after : undefined;
  return { opening: await readState(run, after), decided, known: run.answered };
}

/** Ids that the client has given to its results; it keeps results under these ids. */
function idsOfResults({ input }: AgUiRun): ReadonlyMap<string, string> {
  return new Map(
    input.messages.flatMap(({ role, id, toolCallId }) =>
      role === 'tool' && toolCallId !== undefined ? [[toolCallId, id] as const] : [],
    ),
  );
}

/** Returns true if all rejected results belong to earlier turns, which clients keep in their copies. */
function isOfCopy({ answered }: AgUiRun, decided: ChatReply): boolean {
  const { rejected = [] } = decided.kind === 'stream' ? decided : {};
  const isKept = ({ toolCallId, reason }: (typeof rejected)[number]): boolean =>
    reason === 'not-pending' && answered.has(toolCallId);
  return rejected.length > 0 && rejected.every(isKept);
}

/** Returns true if the record already has everything in the request. */
function isNothingNew({ params }: AgUiRun, { code }: HelixError): boolean {
  const hasUser = params.messages.some(({ role }) => role === 'user');
  return !hasUser && (code === 'nothing_to_do' || code === 'client_out_of_step');
}

export async function* createRunFrames(
  run: AgUiRun,
  { opening, decided, known }: Begun,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { threadId, runId } = run.input;
  yield format([
    { type: 'RUN_STARTED', threadId, runId, protocolVersion: PROTOCOL_VERSION },
    ...opening,
  ]);
  const events = new AgUiEvents({ known, ...toPlace(run, decided) });
  if (decided.kind === 'stream') {
    try {
      for await (const arrived of readParts(untilExpiry(decided.frames, run), signal)) {
        const text = format(arrived.flatMap((part) => events.accept(part)));
        if (text !== '') yield text;
      }
    } catch (error) {
      const message = 'The reply broke off; run the agent again.';
      yield format([{ type: 'RUN_ERROR', message, code: 'unavailable' }]);
      throw new StreamBrokenError('the reply broke off', [], { cause: error });
    }
    if (signal.aborted) return;
  }
  yield format(await createEnding(run, events.end ?? { kind: 'finished', reason: 'stop' }));
}

/** Numbers the rest of a turn after the turn's messages in the client's copy. */
function toPlace({ input }: AgUiRun, decided: Begun['decided']): TailPlace {
  if (decided.kind !== 'stream' || decided.isTail !== true) return {};
  const { messageId = '', after } = decided;
  const ids = input.messages.map(({ id }) => id);
  const preceding = findLastShown(messageId, ids);
  return preceding === undefined ? { tailFrom: after } : { preceding };
}

async function createEnding(run: AgUiRun, end: ReplyEnd): Promise<AgUiEvent[]> {
  if (end.kind === 'failed') {
    const { message, code } = end;
    return [{ type: 'RUN_ERROR', message, code }];
  }
  const { deps, caller, input, before } = run;
  const { threadId, runId } = input;
  const session = await readOwnCalls(deps, threadId, caller);
  const pending = await readAnswerable(deps, caller, session);
  const { inputTokens, outputTokens } = toUsageSince(session, before);
  const usage = [{ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }];
  const { reason, output } = end;
  const result = output !== undefined && { result: output };
  const outcome = toOutcome(reason, pending);
  return [
    ...(await readState(run)),
    { type: 'RUN_FINISHED', threadId, runId, ...result, outcome, usage },
  ];
}

/** Reads the agent's state, if it has one, as of the sequence `after` or the newest. */
async function readState({ deps, params, caller }: AgUiRun, after?: number): Promise<AgUiEvent[]> {
  const { record } = await findSession(deps.stateStore, params.sessionId, caller);
  if (record === undefined || !isOwner(record, caller)) return [];
  const snapshot = await readStateAt(deps, record, after);
  return snapshot === undefined ? [] : [{ type: 'STATE_SNAPSHOT', snapshot }];
}

function format(events: readonly AgUiEvent[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

const DECISION = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
};

/** Returns the outcome of a run: approvals are interrupts; the client executes its own tools. Pure. */
function toOutcome(reason: string, pending: readonly PendingQuestion[]): AgUiOutcome {
  const interrupts = pending.filter(({ kind }) => kind === 'approval').map(toInterrupt);
  if (interrupts.length > 0) return { type: 'interrupt', interrupts };
  if (pending.length > 0) {
    return { type: 'success', pendingToolCallIds: pending.map(({ toolCallId }) => toolCallId) };
  }
  return { type: reason === 'other' ? 'cancelled' : 'success' };
}

function toInterrupt(question: PendingQuestion): AgUiInterrupt {
  const { approvalId, toolCallId, toolName, deadline } = question;
  return {
    id: approvalId,
    reason: 'tool_approval',
    message: `May ${toolName} be carried out?`,
    toolCallId,
    responseSchema: DECISION,
    ...(deadline !== undefined && { expiresAt: new Date(deadline).toISOString() }),
  };
}
