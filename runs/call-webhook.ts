import type { AnswerCheck } from '../agents/check-answer.js';
import { HelixError } from '../protocol/errors.js';
import { rootOf, sessionOfRun } from '../protocol/ids.js';
import type { ToolRow } from '../protocol/rows.js';
import { sleep } from '../protocol/time.js';
import { parseWebhookToken, type WebhookToken } from '../protocol/answers.js';
import { toAct } from './record/acts.js';
import { toHookResult } from './record/settle-inputs.js';
import { noteBeside } from '../store/contract/due.js';
import type { SettleCallResult } from '../store/contract/calls.js';
import type { Store } from '../store/contract/store.js';

/** A request that comes before its call waits is held this long. */
const EARLY_MS = 5_000;
const LOOK_EVERY_MS = 200;
/** Delay before the sweeper checks an answered session, in case the signal is lost. */
const WAKE_CHECK_MS = 3_000;

export interface CallWebhookDeps {
  store: Pick<Store, 'sessions' | 'calls' | 'due'>;
  check: AnswerCheck;
  stored: (runId: string, result: Extract<SettleCallResult, { kind: 'stored' }>) => Promise<void>;
  /** Time to hold a request that comes too early, ms. */
  holdMs?: number;
}

/**
 * Takes the body of the first request to a call's webhook as its result. Later ones have no effect.
 *
 * @throws HelixError `not_found` for an address that was never given out, `webhook_closed` once the
 *   wait is over without a request, `invalid_result` for what does not fit; the call still waits then.
 *   `unavailable` while the tool still passes its address on: the sender is to repeat the request
 */
export function createCallWebhook({
  store,
  check,
  stored,
  holdMs = EARLY_MS,
}: CallWebhookDeps): (token: string, payload: unknown) => Promise<void> {
  return async (token, payload) => {
    const parsed = parseWebhookToken(token);
    if (parsed === undefined) throw unknown();
    for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
      const { runId, result } = await settle(parsed, payload);
      switch (result.kind) {
        case 'stored':
          return stored(runId, result);
        case 'already_completed':
          return;
        case 'not_due':
          break;
        case 'expired':
        case 'stale_run':
          throw new HelixError('webhook_closed', 'Nothing waits for this webhook any more.');
        default:
          throw unknown();
      }
      // The worker may have died on the way to the wait. A 404 would be final for most senders.
      if (waitedMs >= holdMs) {
        throw new HelixError('unavailable', 'The tool does not wait yet; send the request again.');
      }
      await sleep(LOOK_EVERY_MS);
    }
  };

  async function settle(
    { sessionId, toolCallId, secret }: WebhookToken,
    payload: unknown,
  ): Promise<{ runId: string; result: SettleCallResult }> {
    const call = await store.calls.read(sessionId, toolCallId);
    const runId = call?.spec.runId ?? `${sessionId}:0-none`;
    const record = await store.sessions.read(call === undefined ? sessionId : sessionOfRun(runId));
    if (record === undefined) throw unknown();
    let output = payload;
    // The call may begin to wait after this read; it must not take an unchecked answer then.
    if (call?.state === 'started' && call.hook === secret) {
      return { runId, result: { kind: 'not_due' } };
    }
    if (call?.state === 'suspended' && call.hook === secret) {
      const answer = {
        kind: 'client-tool-result' as const,
        sessionId,
        toolCallId,
        result: payload,
      };
      const checked = await check(record, call.spec, answer);
      if (checked.kind === 'client-tool-result') output = checked.result;
    }
    const { toolName = '' } = call?.spec ?? {};
    const now = Date.now();
    const facts = { tenant: record.tenant, runId, toolCallId, toolName };
    const act = toAct('result', { by: 'webhook', via: 'link' }, facts, now);
    const of = { sessionId: record.sessionId, agentType: record.agent, toolCallId, runId };
    const row: ToolRow = { role: 'tool', toolCallId, toolName, output };
    const made =
      call === undefined ? { row, chunks: [] } : toHookResult(call, record, { output }, now);
    const settled = { source: 'webhook' as const, ...of, secret, ...made, now, act };
    const noted = noteBeside(store.due, rootOf(sessionId), WAKE_CHECK_MS);
    return { runId, result: await store.calls.settle(settled, noted) };
  }
}

function unknown(): HelixError {
  return new HelixError('not_found', 'There is no such webhook.');
}
