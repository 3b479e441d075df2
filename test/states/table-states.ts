import { newCall, userMessage, type SessionDriver } from '../support/session-driver.js';
import { storeOf, type World } from './world.js';

/** Takes the steps to a state of a conversation. Calls are named `s`, `a` and `c` by their kinds. */
export type Reach = (session: SessionDriver, world: World) => Promise<unknown>;

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

export const TABLE_STATES: Readonly<Record<string, Reach>> = {
  'no session': () => Promise.resolve(),
  starting: begin,
  'model active': speak,
  'tool is due': (session) => ask(session, 'server'),
  'tool runs': async (session) => session.start(await ask(session, 'server'), 1, 's', TOKEN),
  waiting_approval: (session) => ask(session, 'approval'),
  waiting_tool: (session) => ask(session, 'client'),
  'waits for a webhook': (session, world) => waitForHook(session, world),
  'waits for a webhook, approval asked': (session, world) =>
    waitForHook(session, world, 'approval'),
  'waiting, tool active': (session) => ask(session, 'server', 'approval'),
  'one of two answered': async (session) =>
    session.decide(await ask(session, 'approval', 'client'), 'a', true),
  'approved, not taken': async (session) =>
    session.decide(await ask(session, 'approval'), 'a', true),
  stopping: (session) => speak(session).then(() => session.stop()),
  completed: async (session) => session.commit(session.writer(await speak(session), 1, TOKEN)),
  failed: async (session) => {
    const error = { code: 'x', message: 'x', retryable: true };
    return session.end(await speak(session), 'failed', { error });
  },
  interrupted: (session) => ask(session, 'approval').then(() => session.stop()),
  aborted: (session) => ask(session, 'approval').then(() => session.stop({ mode: 'abort' })),
};
