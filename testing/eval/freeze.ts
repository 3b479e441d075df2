import { convertToUIMessages } from '../../ai-sdk/parts/convert-messages.js';
import type { AgentExecutor } from '../../runs/executor.js';
import type { Store } from '../../store/contract/store.js';
import type { EvalCase } from './case.js';
import { toCase } from './to-case.js';

/** Freezes a conversation of a store. @throws Error if it is unknown or has no message */
export async function freeze(
  { executor, store }: { executor: Pick<AgentExecutor, 'listRuns'>; store: Store },
  sessionId: string,
  name: string,
): Promise<EvalCase> {
  const view = await store.sessions.view(sessionId);
  if (view === undefined) throw new Error(`there is no session "${sessionId}"`);
  const { rows, openCalls, record } = view;
  const usage = { inputTokens: 0, outputTokens: 0 };
  let costMicroUsd: number | undefined;
  for (const { usage: used } of await executor.listRuns(sessionId)) {
    usage.inputTokens += used?.inputTokens ?? 0;
    usage.outputTokens += used?.outputTokens ?? 0;
    if (used?.costMicroUsd !== undefined) costMicroUsd = (costMicroUsd ?? 0) + used.costMicroUsd;
  }
  return toCase({
    name,
    agent: record.agent,
    status: record.status,
    now: new Date(),
    messages: convertToUIMessages(rows, { openCalls, filterHidden: false }),
    usage: costMicroUsd === undefined ? usage : { ...usage, costMicroUsd },
  });
}
