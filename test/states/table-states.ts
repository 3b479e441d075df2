import { newCall, userMessage, type SessionDriver } from '../support/session-driver.js';
import { AGENT } from '../../stores/conformance/fixtures.js';
import { SESSION } from './model/plan.js';
import { storeOf, type World } from './world.js';

/** A state of a conversation, and the steps that lead to it. Calls are named `s`, `a` and `c` after their kinds. */
export interface TableState {
  name: string;
  reach: (session: SessionDriver, world: World) => Promise<unknown>;
}

/** Steps of model attempts; a zombie's is lower. */
export const TOKEN = 5;

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

/** What a person sees of the call that a tool waits for. */
const QUESTION = {
  type: 'tool_start',
  agentId: SESSION,
  agentType: AGENT,
  step: 1,
  timestamp: 1,
  toolCallId: 'c',
  toolName: 'ask',
  arguments: {},
} as const;

async function suspend(session: SessionDriver, world: World): Promise<void> {
  const runId = await ask(session, 'server');
  await session.start(runId, 1, 's', TOKEN);
  await storeOf(world).calls.suspend({
    writer: session.callWriter(runId, 1, 's', TOKEN),
    toolCallId: 's',
    at: 0,
    now: Date.now(),
    operation: { kind: 'suspend', name: 'ask' },
    wait: {
      toolCallId: 'c',
      toolName: 'ask',
      kind: 'client',
      input: {},
      of: 's',
      ask: QUESTION,
      deadlineMs: 60_000,
    },
  });
}

/** The tool of call `s` sleeps, by the timer `t`. */
async function sleep(
  session: SessionDriver,
  world: World,
  ...beside: 'approval'[]
): Promise<string> {
  const runId = await ask(session, 'server', ...beside);
  await session.start(runId, 1, 's', TOKEN);
  await storeOf(world).calls.suspend({
    writer: session.callWriter(runId, 1, 's', TOKEN),
    toolCallId: 's',
    at: 0,
    now: Date.now(),
    operation: { kind: 'sleep', name: 'sleep' },
    wait: { toolCallId: 't', toolName: 'sleep', kind: 'timer', input: {}, of: 's' },
    dueInMs: 30_000,
  });
  return runId;
}

async function wakeBesideApproval(session: SessionDriver, world: World): Promise<void> {
  const runId = await sleep(session, world, 'approval');
  world.clock.now += 30_000;
  await session.expire(runId, 't', world.clock.now);
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
  {
    name: 'tool is suspended',
    reach: suspend,
  },
  { name: 'tool sleeps', reach: (session, world) => sleep(session, world) },
  {
    name: 'tool sleeps, approval asked',
    reach: (session, world) => sleep(session, world, 'approval'),
  },
  {
    name: 'tool woken, approval asked',
    reach: wakeBesideApproval,
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
