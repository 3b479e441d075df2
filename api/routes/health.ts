import { Router } from 'express';

/**
 * Each resolves when its part answers, and rejects when it does not. `redis`, where everything is
 * stored, has to answer; the others must have answered once: messages are taken without them.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** Without this one nothing can be taken. */
const NEEDED = 'redis';

/** A check that takes longer counts as failed. */
const CHECK_MS = 2_000;

/** Liveness: this process answers. Readiness: it takes messages. */
export function createHealthRoutes(checks: ReadinessChecks): Router {
  const router = Router();
  const seen = new Set<string>();
  let looking: Promise<CheckResult[]> | undefined;
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });
  router.get('/readyz', async (_request, response) => {
    const results = await look();
    const away = results.flatMap(([name, state]) => (state === 'ok' ? [] : [name]));
    for (const [name, state] of results) if (state === 'ok') seen.add(name);
    const isReady = away.every((name) => name !== NEEDED && seen.has(name));
    response.status(isReady ? 200 : 503).json({
      status: isReady ? 'ok' : 'unavailable',
      ...(away.length > 0 && { away }),
      checks: Object.fromEntries(results),
    });
  });
  return router;

  /** Anybody may ask, as often as they like: one look serves all who ask meanwhile. */
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

/** Why a check failed is for the log of what failed, not for whoever asks. */
async function runCheck(check: () => Promise<void>): Promise<'ok' | 'failed'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'failed'>((resolve) => {
    timer = setTimeout(resolve, CHECK_MS, 'failed');
  });
  const done = check().then(
    () => 'ok' as const,
    () => 'failed' as const,
  );
  const state = await Promise.race([done, late]);
  clearTimeout(timer);
  return state;
}
