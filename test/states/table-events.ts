import { decideSweep, type SweepDecision } from '../../runs/sweep-session.js';
import type { EndInput } from '../../store/contract/runs.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { userMessage, type SessionDriver } from '../support/session-driver.js';
import { SECRET, TOKEN } from './table-states.js';
import { SESSION } from './model/plan.js';
import { storedIn, storeOf, type World } from './world.js';

/** An event in a conversation; returns its outcome. */
export interface TableEvent {
  name: string;
  happen: (session: SessionDriver, world: World) => Promise<{ kind: string }>;
}

const runIdOf = (world: World): string =>
  storedIn(world).conversation?.record.run.id ?? `${SESSION}:1-n`;
const stepOf = (world: World): number =>
  (storedIn(world).conversation?.record.run.committed ?? 0) + 1;

/** Moves the clock past every deadline. */
function later({ clock }: World): number {
  clock.now += 120_000;
  return clock.now;
}

async function erase(world: World): Promise<{ kind: string }> {
  await storeOf(world).sessions.erase(SESSION);
  return { kind: 'erased' };
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

export const TABLE_EVENTS: readonly TableEvent[] = [
  {
    name: 'new message',
    happen: (session) => session.begin({ nonce: 'm', messages: [userMessage('u2')] }),
  },
  {
    name: 'new message, to queue',
    happen: (session) =>
      session.begin({ nonce: 'm', messages: [userMessage('u2')], policy: 'queue' }),
  },
  {
    name: 'new message, to steer',
    happen: (session) =>
      session.begin({ nonce: 'm', messages: [userMessage('u2')], policy: 'steer' }),
  },
  {
    name: 'new message, to interrupt',
    happen: (session) =>
      session.begin({ nonce: 'm', messages: [userMessage('u2')], policy: 'interrupt' }),
  },
  {
    name: 'new message, to begin later',
    happen: (session) =>
      session.begin({ nonce: 'm', messages: [userMessage('u2')], startAt: Date.now() + 3_600_000 }),
  },
  {
    name: 'first message again',
    happen: (session) => session.begin({ nonce: 'm', messages: [userMessage('u1')] }),
  },
  {
    name: 'same id, other text',
    happen: (session) => session.begin({ nonce: 'm', messages: [userMessage('u1', 'other')] }),
  },
  {
    name: "a stranger's message",
    happen: (session) => session.begin({ nonce: 'm', owner: 'eve', messages: [userMessage('u2')] }),
  },
  { name: 'approve', happen: (session, world) => session.decide(runIdOf(world), 'a', true) },
  { name: 'deny', happen: (session, world) => session.decide(runIdOf(world), 'a', false) },
  {
    name: 'client result',
    happen: (session, world) => session.answer(runIdOf(world), 'c', { output: 1 }),
  },
  {
    name: 'result for an approval',
    happen: (session, world) => session.answer(runIdOf(world), 'a', { output: 1 }),
  },
  {
    name: 'answer of another run',
    happen: (session) => session.decide(`${SESSION}:9-x`, 'a', true),
  },
  {
    name: 'deadline of the approval',
    happen: (session, world) => session.expire(runIdOf(world), 'a', later(world)),
  },
  {
    name: 'deadline of the client call',
    happen: (session, world) => session.expire(runIdOf(world), 'c', later(world)),
  },
  {
    name: 'request to the webhook',
    happen: (_, world) =>
      storeOf(world).calls.settle({
        ...{ source: 'webhook', sessionId: SESSION, agentType: 'tester', secret: SECRET },
        ...{ toolCallId: 's', runId: runIdOf(world), chunks: [], now: world.clock.now },
        row: { role: 'tool', toolCallId: 's', toolName: 'server-tool', output: 'sent' },
      }),
  },
  {
    name: 'deadline of the webhook',
    happen: (session, world) => session.expire(runIdOf(world), 's', later(world)),
  },
  { name: 'stop', happen: (session) => session.stop() },
  { name: 'abort', happen: (session) => session.stop({ mode: 'abort' }) },
  {
    name: 'next attempt of the step',
    happen: (session, world) =>
      session.claim(session.writer(runIdOf(world), stepOf(world), TOKEN + 1)),
  },
  {
    name: 'attempt of a zombie',
    happen: (session, world) => session.claim(session.writer(runIdOf(world), stepOf(world), 1)),
  },
  {
    name: 'reply of the model',
    happen: (session, world) =>
      session.commit(session.writer(runIdOf(world), stepOf(world), TOKEN)),
  },
  {
    name: 'reply of a zombie',
    happen: (session, world) => session.commit(session.writer(runIdOf(world), stepOf(world), 1)),
  },
  {
    name: 'chunks of a superseded run',
    happen: (session) => session.say(session.writer(`${SESSION}:9-x`, 1, TOKEN), 1, 'late'),
  },
  {
    name: 'tool starts',
    happen: (session, world) => session.start(runIdOf(world), 1, 's', TOKEN),
  },
  {
    name: 'tool starts again elsewhere',
    happen: (session, world) => session.start(runIdOf(world), 1, 's', TOKEN + 1),
  },
  {
    name: 'tool has its result',
    happen: (session, world) => session.finishCall(runIdOf(world), 1, 's', 'done', TOKEN),
  },
  {
    name: 'approved tool starts',
    happen: (session, world) => session.start(runIdOf(world), 1, 'a', TOKEN),
  },
  { name: 'workflow closed from outside', happen: (_, world) => sweep(world, 'closed') },
  { name: 'workflow unknown to Temporal', happen: (_, world) => sweep(world, 'unknown') },
  { name: 'workflow not started in time', happen: (_, world) => sweep(world, 'unknown', 0) },
  { name: 'wake-up missed', happen: (_, world) => sweep(world, 'running') },
  {
    name: 'erase',
    happen: (_, world) => erase(world),
  },
];
