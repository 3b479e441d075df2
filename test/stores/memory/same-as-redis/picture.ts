import type { Stores } from './session-knowledge.js';

/** Everything that a store tells of a session, but for what depends on its clock. */
export async function takePicture(
  { store, streamManager }: Stores,
  sessionId: string,
  calls: string[],
): Promise<unknown> {
  const pages = await Promise.all([
    streamManager.read(sessionId, 0, 10_000),
    streamManager.read(sessionId, 7, 3),
    streamManager.inspect(sessionId),
    store.sessions.view(sessionId),
    store.documents.load(sessionId),
    store.sessions.rows(sessionId, 1, 3),
    Promise.all(calls.map((id) => store.calls.read(sessionId, id))),
    store.sessions.acceptedMessages(sessionId, ['u0', 'unknown']),
    orCode(store.runs.list(sessionId)),
    orCode(store.checkpoints.list(sessionId, { limit: 2 })),
    orCode(store.checkpoints.latest(sessionId)),
    orCode(checkpointStates(store, sessionId)),
  ]);
  return withoutClock(pages);
}

async function checkpointStates(store: Stores['store'], sessionId: string): Promise<unknown> {
  const { checkpoints } = await store.checkpoints.list(sessionId);
  return Promise.all(checkpoints.map(({ id }) => store.checkpoints.get(sessionId, id)));
}

/** What a promise comes to: errors by their codes. */
export async function orCode(promise: Promise<unknown>): Promise<unknown> {
  try {
    return (await promise) ?? null;
  } catch (error) {
    return { threw: (error as { code?: unknown }).code ?? String(error) };
  }
}

const CLOCKED = new Set(['timestamp', 'updatedAt', 'at', 'endedAt', 'dueInMs']);

/** Deadlines stay as what they mean. */
export function withoutClock(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (key, inner: unknown) => {
      if (CLOCKED.has(key)) return undefined;
      if (key === 'deadline') return (inner as number) <= Date.now() ? 'past' : 'future';
      return inner;
    }),
  ) as unknown;
}
