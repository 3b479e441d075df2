import { newCall, userMessage, type SessionDriver } from '../support/session-driver.js';
import { storeOf, type World } from './world.js';

/**
 * A state of a conversation and the steps to it. Calls are named `s`, `a` and `c` by their kinds.
 */
export interface TableState {
  name: string;
  reach: (session: SessionDriver, world: World) => Promise<unknown>;
}

/** Token of model attempts; a zombie's is lower. */
export const TOKEN = 5;
export const SECRET = 'secret-of-s';

async function begin(session: SessionDriver): Promise<string> {
  const result = await session.begin({ nonce: 'n', messages: [userMessage('u1')] });
  if (result.kind !== 'begun') throw new Error(`begin replied ${result.kind}`);
  return result.run.runId;
}

async function speak(session: SessionDriver): Promise<string> {
  const runId = await begin(session);
  await session.claim(session.writer(runId, 1, TOKEN));
  return runId;
}

async function ask(
  session: SessionDriver,
  ...kinds: ('server' | 'approval' | 'client')[]
): Promise<string> {
  const runId = await speak(session);
  const calls = kinds.map((kind) => newCall(kind.charAt(0), kind, { deadlineMs: 60_000 }));
  await session.commit(session.writer(runId, 1, TOKEN), { calls });
  return runId;
}

/** Makes the call `s` wait for its webhook, for a minute. */
async function waitForHook(
  session: SessionDriver,
  world: World,
  ...beside: 'approval'[]
): Promise<void> {
  const runId = await ask(session, 'server', ...beside);
  const writer = session.callWriter(runId, 1, 's', TOKEN);
  const base = { writer, toolCallId: 's', now: Date.now() };
  await storeOf(world).calls.start({ ...base, hook: SECRET });
  await storeOf(world).calls.suspend(base);
}

export const TABLE_STATES: readonly TableState[] = [
  { name: 'no session', reach: () => Promise.resolve() },
  { name: 'starting', reach: begin },
  { name: 'model active', reach: speak },
  { name: 'tool is due', reach: (session) => ask(session, 'server') },
  {
    name: 'tool runs',
    reach: async (session) => session.start(await ask(session, 'server'), 1, 's', TOKEN),
  },
  { name: 'waiting_approval', reach: (session) => ask(session, 'approval') },
  { name: 'waiting_tool', reach: (session) => ask(session, 'client') },
  { name: 'waits for a webhook', reach: (session, world) => waitForHook(session, world) },
  {
    name: 'waits for a webhook, approval asked',
    reach: (session, world) => waitForHook(session, world, 'approval'),
  },
  { name: 'waiting, tool active', reach: (session) => ask(session, 'server', 'approval') },
  {
    name: 'one of two answered',
    reach: async (session) => session.decide(await ask(session, 'approval', 'client'), 'a', true),
  },
  {
    name: 'approved, not taken',
    reach: async (session) => session.decide(await ask(session, 'approval'), 'a', true),
  },
  {
    name: 'stopping',
    reach: (session) => speak(session).then(() => session.stop()),
  },
  {
    name: 'completed',
    reach: async (session) => session.commit(session.writer(await speak(session), 1, TOKEN)),
  },
  {
    name: 'failed',
    reach: async (session) =>
      session.end(await speak(session), 'failed', {
        error: { code: 'x', message: 'x', retryable: true },
      }),
  },
  {
    name: 'interrupted',
    reach: (session) => ask(session, 'approval').then(() => session.stop()),
  },
  {
    name: 'aborted',
    reach: (session) => ask(session, 'approval').then(() => session.stop({ mode: 'abort' })),
  },
];
