import { decideSweep, type SweepDecision } from '../../runs/sweep-session.js';
import type { BeginInput, BeginResult, EndInput } from '../../store/contract/runs.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { newCall, userMessage, type SessionDriver } from '../support/session-driver.js';
import { SESSION } from './model/plan.js';
import { storedIn, storeOf, type World } from './world.js';

/** Takes the steps to a state of a conversation. Calls are named `s`, `a` and `c` by their kinds. */
export type Reach = (session: SessionDriver, world: World) => Promise<unknown>;

/** Token of model attempts; a zombie's is lower. */
const TOKEN = 5;
const SECRET = 'secret-of-s';

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

/** Makes an event happen in a conversation; returns its outcome. */
export type Happen = (session: SessionDriver, world: World) => Promise<{ kind: string }>;

const runIdOf = (world: World): string =>
  storedIn(world).conversation?.record.run.id ?? `${SESSION}:1-n`;
const stepOf = (world: World): number =>
  (storedIn(world).conversation?.record.run.committed ?? 0) + 1;

/** Moves the clock past every deadline. */
function later({ clock }: World): number {
  clock.now += 120_000;
  return clock.now;
}

/** Sweeps, given Temporal's view of the run. */
async function sweep(
  world: World,
  workflow: 'running' | 'closed' | 'unknown',
  startWithinMs = Infinity,
): Promise<{ kind: string }> {
  const record = await storeOf(world).sessions.read(SESSION);
  const moment = { now: world.clock.now + 3_600_000, startWithinMs };
  const kind = decideSweep(record, workflow, moment);
  const ending = record && ENDINGS[kind]?.(record);
  if (record !== undefined && ending !== undefined) {
    const { runId, committedStep: step } = record;
    await storeOf(world).runs.end({
      sessionId: SESSION,
      runId,
      agentType: 'tester',
      step,
      ...ending,
      now: world.clock.now,
    });
  }
  return { kind };
}

type Ending = Pick<EndInput, 'status' | 'error'>;

const failed = (code: string): Ending => ({
  status: 'failed',
  error: { code, message: 'lost', retryable: true },
});

/** Sweep decisions that end the run. */
const ENDINGS: Partial<Record<SweepDecision, (record: SessionRecord) => Ending>> = {
  fail: () => failed('framework_run_lost'),
  give_up: () => failed('engine_unavailable'),
  enforce: ({ stop }) => ({ status: stop?.mode === 'abort' ? 'aborted' : 'interrupted' }),
};

/** Sends a new message. */
const post = (session: SessionDriver, more: Partial<BeginInput> = {}): Promise<BeginResult> =>
  session.begin({ nonce: 'm', messages: [userMessage('u2')], ...more });

export const TABLE_EVENTS: Readonly<Record<string, Happen>> = {
  'new message': (session) => post(session),
  'new message, to queue': (session) => post(session, { policy: 'queue' }),
  'new message, to steer': (session) => post(session, { policy: 'steer' }),
  'new message, to interrupt': (session) => post(session, { policy: 'interrupt' }),
  'new message, to begin later': (session) => post(session, { startAt: Date.now() + 3_600_000 }),
  'first message again': (session) => post(session, { messages: [userMessage('u1')] }),
  'same id, other text': (session) => post(session, { messages: [userMessage('u1', 'other')] }),
  "a stranger's message": (session) => post(session, { owner: 'eve' }),
  approve: (session, world) => session.decide(runIdOf(world), 'a', true),
  deny: (session, world) => session.decide(runIdOf(world), 'a', false),
  'client result': (session, world) => session.answer(runIdOf(world), 'c', { output: 1 }),
  'result for an approval': (session, world) => session.answer(runIdOf(world), 'a', { output: 1 }),
  'answer of another run': (session) => session.decide(`${SESSION}:9-x`, 'a', true),
  'deadline of the approval': (session, world) => session.expire(runIdOf(world), 'a', later(world)),
  'deadline of the client call': (session, world) =>
    session.expire(runIdOf(world), 'c', later(world)),
  'request to the webhook': (_, world) =>
    storeOf(world).calls.settle({
      source: 'webhook',
      sessionId: SESSION,
      agentType: 'tester',
      secret: SECRET,
      toolCallId: 's',
      runId: runIdOf(world),
      chunks: [],
      now: world.clock.now,
      row: { role: 'tool', toolCallId: 's', toolName: 'server-tool', output: 'sent' },
    }),
  'deadline of the webhook': (session, world) => session.expire(runIdOf(world), 's', later(world)),
  stop: (session) => session.stop(),
  abort: (session) => session.stop({ mode: 'abort' }),
  'next attempt of the step': (session, world) =>
    session.claim(session.writer(runIdOf(world), stepOf(world), TOKEN + 1)),
  'attempt of a zombie': (session, world) =>
    session.claim(session.writer(runIdOf(world), stepOf(world), 1)),
  'reply of the model': (session, world) =>
    session.commit(session.writer(runIdOf(world), stepOf(world), TOKEN)),
  'reply of a zombie': (session, world) =>
    session.commit(session.writer(runIdOf(world), stepOf(world), 1)),
  'chunks of a superseded run': (session) =>
    session.say(session.writer(`${SESSION}:9-x`, 1, TOKEN), 1, 'late'),
  'tool starts': (session, world) => session.start(runIdOf(world), 1, 's', TOKEN),
  'tool starts again elsewhere': (session, world) =>
    session.start(runIdOf(world), 1, 's', TOKEN + 1),
  'tool has its result': (session, world) =>
    session.finishCall(runIdOf(world), 1, 's', 'done', TOKEN),
  'approved tool starts': (session, world) => session.start(runIdOf(world), 1, 'a', TOKEN),
  'workflow closed from outside': (_, world) => sweep(world, 'closed'),
  'workflow unknown to Temporal': (_, world) => sweep(world, 'unknown'),
  'workflow not started in time': (_, world) => sweep(world, 'unknown', 0),
  'wake-up missed': (_, world) => sweep(world, 'running'),
  erase: async (_, world) => {
    await storeOf(world).sessions.erase(SESSION);
    return { kind: 'erased' };
  },
};
