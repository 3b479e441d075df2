import { checkWaited } from '../agents/check-answer.js';
import { HelixError } from '../protocol/errors.js';
import { rootOf, sessionOfRun } from '../protocol/ids.js';
import type { ToolRow } from '../protocol/rows.js';
import { sleep } from '../protocol/time.js';
import { parseWebhookToken, type WebhookToken } from '../protocol/webhook-token.js';
import { toAct } from '../stores/record/acts.js';
import { webhookCallId } from '../stores/record/webhook-call.js';
import { noteBeside } from '../stores/contract/due.js';
import type { OpenCall } from '../stores/contract/call-record.js';
import type { SettleCallResult } from '../stores/contract/calls.js';
import type { Store } from '../stores/contract/store.js';

/** A request that comes before its tool waits is held this long. */
const EARLY_MS = 5_000;
const LOOK_EVERY_MS = 200;
/** The sweeper looks at an answered session after this long, in case the signal is lost. */
const WAKE_CHECK_MS = 3_000;

export interface CallWebhookDeps {
  store: Pick<Store, 'sessions' | 'calls' | 'due'>;
  /** Wakes the run. */
  stored: (runId: string, result: Extract<SettleCallResult, { kind: 'stored' }>) => Promise<void>;
  /** How long a request that comes too early is held, ms. */
  holdMs?: number;
}

/**
 * Gives a tool what was sent to its webhook. The first request counts; the same address may be called
 * again, without effect.
 *
 * @throws HelixError `not_found` for an address that was never given out, `webhook_closed` once the
 *   wait is over without a request, `invalid_result` for what does not fit; the tool still waits then.
 *   `unavailable` while the tool runs before its wait: the sender is to repeat the request
 */
export function createCallWebhook({
  store,
  stored,
  holdMs = EARLY_MS,
}: CallWebhookDeps): (token: string, payload: unknown) => Promise<void> {
  return async (token, payload) => {
    const parsed = parseWebhookToken(token);
    if (parsed === undefined) throw unknown();
    const { sessionId } = parsed;
    const toolCallId = webhookCallId(parsed);
    const call = await findCall(parsed, toolCallId);
    if (call?.state === 'waiting') await check(call, payload);
    const runId = call?.spec.runId ?? `${sessionId}:0-none`;
    const record = await store.sessions.read(call === undefined ? sessionId : sessionOfRun(runId));
    if (record === undefined) throw unknown();
    const { toolName = '' } = call?.spec ?? {};
    const row: ToolRow = { role: 'tool', toolCallId, toolName, output: payload };
    const now = Date.now();
    const facts = { tenant: record.tenant, runId, toolCallId, toolName };
    const act = toAct('result', { by: 'webhook', via: 'link' }, facts, now);
    const noted = noteBeside(store.due, rootOf(sessionId), WAKE_CHECK_MS);
    const of = { sessionId: record.sessionId, agentType: record.agent, toolCallId, runId };
    const settled = { source: 'webhook' as const, ...of, row, chunks: [], now, act };
    const result = await store.calls.settle(settled, noted);
    switch (result.kind) {
      case 'stored':
        return stored(runId, result);
      case 'already_completed':
        return;
      case 'expired':
      case 'stale_run':
        throw new HelixError('webhook_closed', 'Nothing waits for this webhook any more.');
      default:
        throw unknown();
    }
  };

  /** The call; waited for while its tool is about to wait. */
  async function findCall(
    { sessionId, toolCallId }: WebhookToken,
    id: string,
  ): Promise<OpenCall | undefined> {
    for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
      const call = await store.calls.read(sessionId, id);
      if (call !== undefined) return call;
      const tool = await store.calls.read(sessionId, toolCallId);
      if (tool?.state !== 'started') return store.calls.read(sessionId, id);
      if (waitedMs >= holdMs) {
        // Its worker may have died on the way to the wait. A 404 would be final for most senders.
        throw new HelixError('unavailable', 'The tool does not wait yet; send the request again.');
      }
      await sleep(LOOK_EVERY_MS);
    }
  }
}

async function check({ spec }: OpenCall, result: unknown): Promise<void> {
  const { toolCallId, runId, input } = spec;
  if ((input as { schema?: unknown }).schema === undefined) return;
  const answer = { kind: 'client-tool-result' as const, toolCallId, result };
  await checkWaited(input, { ...answer, sessionId: sessionOfRun(runId) });
}

function unknown(): HelixError {
  return new HelixError('not_found', 'There is no such webhook.');
}
