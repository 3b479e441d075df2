import type { ReadinessReply } from '../protocol/replies.js';
import { withTimeout } from '../protocol/time.js';
import type { ReadinessChecks } from './deps.js';

/** This process accepts messages only while this check passes. */
const NEEDED = 'redis';

/** A check that takes longer counts as failed, ms. */
const CHECK_MS = 2_000;

/** Reports whether this process accepts messages, and the parts that are away. */
export function createReadiness(checks: ReadinessChecks): () => Promise<ReadinessReply> {
  const seen = new Set<string>();
  let looking: Promise<CheckResult[]> | undefined;
  return async () => {
    const results = await look();
    const away = results.flatMap(([name, state]) => (state === 'ok' ? [] : [name]));
    for (const [name, state] of results) if (state === 'ok') seen.add(name);
    const isReady = away.every((name) => name !== NEEDED && seen.has(name));
    return {
      status: isReady ? 'ok' : 'unavailable',
      away: away.length > 0 ? away : undefined,
      checks: Object.fromEntries(results),
    };
  };

  /** Anyone may ask at any rate, so concurrent requests share one look. */
  function look(): Promise<CheckResult[]> {
    looking ??= runChecks(checks).finally(() => {
      looking = undefined;
    });
    return looking;
  }
}

type CheckResult = readonly [name: string, state: 'ok' | 'failed'];

function runChecks(checks: ReadinessChecks): Promise<CheckResult[]> {
  return Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check)] as const),
  );
}

/** The reason of a failure is in the log of the part that failed; the reply does not show it. */
function runCheck(check: () => Promise<void>): Promise<'ok' | 'failed'> {
  return withTimeout(CHECK_MS, check()).then(
    () => 'ok' as const,
    () => 'failed' as const,
  );
}
