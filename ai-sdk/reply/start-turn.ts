import { toBeginRefusal } from '../../executor/begin-refusal.js';
import { toPerson } from '../../protocol/responder.js';
import type { BeginInput, RunRecord, UserMessage } from '../../stores/contract/runs.js';
import type { SessionView } from '../../stores/contract/sessions.js';
import { toReader, replayTurn } from './attach-turn.js';
import { createAwaitedFrames } from '../turns/awaited-turn.js';
import type { ChatDeps, ChatReply, HandleChatStreamParams } from './types.js';
import { toCaller } from './access.js';
import { answeredBefore, notFound } from './refusals.js';
import { createTurnFrames } from '../turns/turn-frames.js';

/** What the messages do to an active run. */
export type Policy = Pick<BeginInput, 'policy' | 'interrupts'>;

/** Begins a turn; messages that were accepted before get their turn again instead. */
export async function startTurn(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  { agent, messages, ...policy }: Policy & { agent: string; messages: readonly UserMessage[] },
): Promise<ChatReply> {
  const { sessionId } = params;
  const { userId: owner, tenantId: tenant, ...known } = toCaller(params);
  const result = await deps.executor.execute({
    sessionId,
    agent,
    owner,
    tenant,
    messages: [...messages],
    ...policy,
    by: owner,
    askers: [toPerson(owner, { ...known, tenantId: tenant })],
  });
  switch (result.kind) {
    case 'begun':
      return streamTurn(deps, params, result.run);
    case 'queued':
    case 'interrupting':
      return awaitTurn(deps, params, messages, result.sequence);
    case 'steered':
      return { ...awaitTurn(deps, params, messages, result.sequence), runId: result.runId };
    case 'accepted':
      return repeatTurn(deps, params, messages);
    default:
      throw toBeginRefusal(sessionId, result);
  }
}

/** A turn that has just begun, from its first part to its next stop. */
export function streamTurn(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  { sessionId, runId, messageId, startSequence }: RunRecord,
): ChatReply {
  const span = {
    sessionId,
    messageId,
    from: startSequence,
    until: { kind: 'live' as const, after: startSequence },
    isTail: false,
    ...toReader(deps, params),
  };
  return {
    kind: 'stream',
    runId,
    messageId,
    after: startSequence,
    frames: (signal) => createTurnFrames(deps.streamManager, span, signal),
  };
}

/** The messages wait: their reply follows once their turn begins. */
function awaitTurn(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  messages: readonly UserMessage[],
  after: number,
): ChatReply {
  const { sessionId } = params;
  const messageIds = messages.map(({ id }) => id);
  const awaited = { sessionId, messageIds, after, ...toReader(deps, params) };
  return { kind: 'stream', frames: (signal) => createAwaitedFrames(deps, awaited, signal) };
}

/** All messages were accepted before: they still wait, or they began the newest turn. */
async function repeatTurn(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  messages: readonly UserMessage[],
): Promise<ChatReply> {
  const view = await deps.stateStore.sessions.view(params.sessionId);
  if (view === undefined) throw notFound();
  if (isWaiting(view, messages)) return awaitTurn(deps, params, messages, view.record.sequence);
  if (!isOfNewestTurn(view, messages)) throw answeredBefore();
  return replayTurn(deps, params, view);
}

function isWaiting({ queue }: SessionView, messages: readonly UserMessage[]): boolean {
  const ids = new Set(messages.map(({ id }) => id));
  return queue.some((entry) => entry.messages.some(({ id }) => ids.has(id)));
}

function isOfNewestTurn({ record, rows }: SessionView, messages: readonly UserMessage[]): boolean {
  const ids = new Set(messages.map(({ id }) => id));
  return rows.slice(record.turnStartRow).some((row) => row.role === 'user' && ids.has(row.id));
}
