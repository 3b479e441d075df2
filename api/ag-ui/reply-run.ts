import {
  buildSnapshot,
  decideReply,
  findSession,
  isOwner,
  toReplyHeaders,
  type ChatReply,
  type HandleChatStreamParams,
} from '../../ai-sdk/index.js';
import type { AgUiEvent, AgUiInput } from '../../protocol/ag-ui.js';
import { HelixError } from '../../protocol/errors.js';
import type { SessionCalls } from '../../stores/contract/sessions.js';
import type { RouteDeps } from '../deps.js';
import type { Identity } from '../identity.js';
import { readAnswerable, readOwnCalls, toUsageSince } from '../fronts/session-standing.js';
import { readParts } from '../fronts/ui-parts.js';
import { AgUiEvents, type RunEnd } from './events-of.js';
import { toOutcome } from './outcome.js';
import { toShownMessages } from './shown-messages.js';

const PROTOCOL_VERSION = '1.0';

/** A request of AG-UI, and what is done for it. */
export interface AgUiRun {
  deps: RouteDeps;
  caller: Identity;
  input: AgUiInput;
  params: HandleChatStreamParams;
  /** The session before the request; undefined if it begins one. */
  before: SessionCalls | undefined;
  /** Calls whose results the client has sent. */
  known: ReadonlySet<string>;
}

/** What a run begins with, and the parts that follow. */
export interface Begun {
  opening: AgUiEvent[];
  decided: Exclude<ChatReply, { kind: 'refused' }>;
}

/**
 * Begins or continues a turn; a request without anything new follows the one that is under way, after
 * the conversation as it is stored.
 *
 * @throws HelixError a refusal
 */
export async function beginRun(run: AgUiRun): Promise<Begun> {
  const { deps, params, caller } = run;
  const isNew = params.messages.length > 0;
  const opening = isNew ? await readState(run) : await readConversation(run);
  const snapshot = opening.find(({ type }) => type === 'MESSAGES_SNAPSHOT');
  if (!isNew && snapshot === undefined) {
    throw new HelixError('nothing_to_do', 'There is no new message and no answer in this request.');
  }
  const follow = { ...params, request: { method: 'GET', headers: new Headers() } };
  const { userId, tenantId, roles, isEveryone } = caller;
  const asked = { ...(isNew ? params : follow), userId, tenantId, roles, isEveryone };
  const decided = await decideReply(deps, asked);
  if (decided.kind === 'refused') throw decided.error;
  return { opening, decided };
}

/** The events of a run as SSE. */
export async function* createRunFrames(
  run: AgUiRun,
  { opening, decided }: Begun,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { input, known } = run;
  const { threadId, runId } = input;
  yield format([
    { type: 'RUN_STARTED', threadId, runId, protocolVersion: PROTOCOL_VERSION },
    ...opening,
  ]);
  const events = new AgUiEvents(runId, known);
  if (decided.kind === 'stream') {
    try {
      for await (const arrived of readParts(decided.frames, signal)) {
        const text = format(arrived.flatMap((part) => events.accept(part)));
        if (text !== '') yield text;
      }
    } catch (error) {
      const message = 'The reply broke off; run the agent again.';
      yield format([{ type: 'RUN_ERROR', message, code: 'unavailable' }]);
      throw error;
    }
    if (signal.aborted) return;
  }
  yield format(await createEnding(run, events.end ?? { kind: 'finished', reason: 'stop' }));
}

async function createEnding(run: AgUiRun, end: RunEnd): Promise<AgUiEvent[]> {
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
  const { reason, result } = end;
  const outcome = toOutcome(reason, pending);
  return [
    ...(await readState(run)),
    {
      type: 'RUN_FINISHED',
      threadId,
      runId,
      ...(result !== undefined && { result }),
      outcome,
      usage,
    },
  ];
}

/** The agent's own state, if it has one. */
async function readState({ deps, params, caller }: AgUiRun): Promise<AgUiEvent[]> {
  const { stateStore: store } = deps;
  const { record } = await findSession(store, params.sessionId, caller);
  if (record === undefined || !isOwner(record, caller) || record.stateVersion === 0) return [];
  const { customState } = await store.documents.readState(record.sessionId, 'now');
  return [{ type: 'STATE_SNAPSHOT', snapshot: customState }];
}

/** The conversation up to the turn that is followed. */
async function readConversation({ deps, params, caller }: AgUiRun): Promise<AgUiEvent[]> {
  const snapshot = await buildSnapshot(
    { ...deps, executor: { runs: deps.executor } },
    { sessionId: params.sessionId, caller },
  );
  if (snapshot === null) return [];
  return [
    { type: 'MESSAGES_SNAPSHOT', messages: toShownMessages(snapshot.messages) },
    ...(snapshot.state === null
      ? []
      : [{ type: 'STATE_SNAPSHOT' as const, snapshot: snapshot.state }]),
  ];
}

function format(events: readonly AgUiEvent[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

/** Headers of the reply. */
export function toRunHeaders({ params }: AgUiRun, { decided }: Begun): Record<string, string> {
  return toReplyHeaders(params.sessionId, decided);
}
