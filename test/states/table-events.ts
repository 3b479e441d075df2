import { decideSweep, type SweepDecision } from '../../runs/sweep-session.js';
import type { BeginInput, BeginResult, EndInput } from '../../store/contract/runs.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { userMessage, type SessionDriver } from '../support/session-driver.js';
import { SECRET, TOKEN } from './table-states.js';
import { SESSION } from './model/plan.js';
import { storedIn, storeOf, type World } from './world.js';

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
      ...{ source: 'webhook', sessionId: SESSION, agentType: 'tester', secret: SECRET },
      ...{ toolCallId: 's', runId: runIdOf(world), chunks: [], now: world.clock.now },
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
