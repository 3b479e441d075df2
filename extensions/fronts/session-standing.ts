import type { RouteDeps } from '../../api/extension.js';
import {
  findSession,
  isOwner,
  judged,
  toPendingQuestions,
  type Caller,
} from '../../ai-sdk/index.js';
import type { PendingQuestion } from '../../protocol/http.js';
import type { RunUsage } from '../../store/contract/runs.js';
import type { SessionCalls } from '../../store/contract/sessions.js';

/** A session's record and open calls; undefined if it does not exist or is another user's. */
export async function readOwnCalls(
  { stateStore: store }: Pick<RouteDeps, 'stateStore'>,
  sessionId: string,
  caller: Caller,
): Promise<SessionCalls | undefined> {
  const { storedId } = await findSession(store, sessionId, caller);
  const found = await store.sessions.withCalls(storedId);
  return isOwner(found?.record, caller) ? found : undefined;
}

/** The questions that this caller may answer. */
export async function readAnswerable(
  deps: Pick<RouteDeps, 'authorize' | 'executor'>,
  caller: Caller,
  session: SessionCalls | undefined,
): Promise<PendingQuestion[]> {
  if (session?.record.stream !== 'paused') return [];
  const { openCalls } = await judged(deps, caller, session);
  return toPendingQuestions(openCalls).filter(({ mayDecide }) => mayDecide !== false);
}

/** What a run has used since `before`, which may be of an earlier run. Pure. */
export function toUsageSince(
  session: SessionCalls | undefined,
  before: SessionCalls | undefined,
): RunUsage {
  const { runId, usage: now = { inputTokens: 0, outputTokens: 0 } } = session?.record ?? {};
  const was = before?.record.runId === runId ? before?.record.usage : undefined;
  const since = (name: 'cachedTokens' | 'reasoningTokens'): number =>
    (now[name] ?? 0) - (was?.[name] ?? 0);
  return {
    inputTokens: now.inputTokens - (was?.inputTokens ?? 0),
    outputTokens: now.outputTokens - (was?.outputTokens ?? 0),
    cachedTokens: since('cachedTokens'),
    reasoningTokens: since('reasoningTokens'),
  };
}
