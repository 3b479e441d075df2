import type { CallKind, StepOutcome } from '../../protocol/run.js';
import { newCall } from '../../stores/conformance/fixtures.js';
import { runOf, type Move } from './moves.js';
import { takeOutcome } from './simulated-run.js';
import { driverOf, SESSION, storeOf, type SimulatedRun, type World } from './world.js';

/** What a model may come to: text, which ends the run, or calls. */
const REPLIES: readonly (readonly CallKind[])[] = [
  [],
  ['server'],
  ['approval'],
  ['client'],
  ['server', 'approval'],
  ['approval', 'client'],
];

/** What can happen to the run's model step, which may outlive its workflow. */
export function modelMoves(world: World, run: SimulatedRun): Move[] {
  const { model, runId } = run;
  if (model === undefined) return [];
  const of = `${runId} step ${String(model.step)}`;
  const moves: Move[] = [];
  if (!model.isClaimed) {
    moves.push({ name: `claim ${of}`, apply: (w) => claim(w, runOf(w, run)) });
  } else {
    for (const kinds of REPLIES.filter(({ length }) => length <= world.budget.calls)) {
      moves.push({
        name: `reply ${kinds.join('+') || 'text'} ${of}`,
        apply: (w) => reply(w, runOf(w, run), kinds),
      });
    }
  }
  if (world.budget.crashes > 0) {
    moves.push({
      name: `worker of the model dies, ${of}`,
      apply: (w) => {
        w.budget.crashes -= 1;
        const { model: lost } = runOf(w, run);
        if (lost !== undefined)
          Object.assign(lost, { attempt: lost.attempt + 1, isClaimed: false });
        return Promise.resolve();
      },
    });
  }
  return moves;
}

async function claim(world: World, run: SimulatedRun): Promise<void> {
  const { model } = run;
  if (model === undefined) return;
  const session = driverOf(world);
  const claimed = await session.claim(session.writer(run.runId, model.step, model.attempt));
  switch (claimed.kind) {
    case 'claimed':
      model.isClaimed = true;
      return;
    case 'done':
      return takeOutcome(world, run, claimed.outcome);
    case 'stopped':
      return takeOutcome(world, run, await endStopped(world, run, model.step));
    case 'superseded':
      return takeOutcome(world, run, await endedElsewhere(world, run, model.step));
    case 'not_ready':
      return takeOutcome(world, run, { kind: 'not_ready' });
    case 'fenced':
      model.attempt += 1;
      return;
    case 'rewound':
      throw new Error('nothing was restored');
  }
}

async function reply(world: World, run: SimulatedRun, kinds: readonly CallKind[]): Promise<void> {
  const { model } = run;
  if (model === undefined) return;
  const session = driverOf(world);
  const writer = session.writer(run.runId, model.step, model.attempt);
  const calls = kinds.map((kind, index) =>
    newCall(`c${String(world.budget.calls - index)}`, kind, { deadlineMs: 30_000 }),
  );
  world.budget.calls -= kinds.length;
  const committed = await session.commit(writer, { calls, now: world.clock.now });
  const outcome: StepOutcome =
    calls.length === 0
      ? { kind: 'ended', step: model.step, status: 'completed' }
      : {
          kind: 'calls',
          step: model.step,
          calls: calls.map(({ toolCallId, toolName, kind }) => ({ toolCallId, toolName, kind })),
        };
  switch (committed.kind) {
    case 'committed':
      return takeOutcome(world, run, outcome);
    case 'steered':
      return takeOutcome(world, run, { kind: 'calls', step: model.step, calls: [] });
    case 'done':
      return takeOutcome(world, run, committed.outcome);
    case 'stopped': {
      const stopped: StepOutcome = { kind: 'ended', step: model.step, status: 'interrupted' };
      const final = { status: 'interrupted' as const };
      await session.commit(writer, { outcome: stopped, final, answersStop: true });
      return takeOutcome(world, run, stopped);
    }
    case 'superseded':
      return takeOutcome(world, run, await endedElsewhere(world, run, model.step));
    case 'fenced':
      Object.assign(model, { attempt: model.attempt + 1, isClaimed: false });
      return;
    default:
      throw new Error(`commit replied ${committed.kind}`);
  }
}

async function endStopped(world: World, run: SimulatedRun, step: number): Promise<StepOutcome> {
  const ended = await storeOf(world).runs.end({
    sessionId: SESSION,
    runId: run.runId,
    agentType: 'tester',
    step,
    status: 'interrupted',
    now: world.clock.now,
  });
  return ended.kind === 'ended'
    ? { kind: 'ended', step, status: ended.status }
    : { kind: 'superseded' };
}

async function endedElsewhere(world: World, run: SimulatedRun, step: number): Promise<StepOutcome> {
  const record = await storeOf(world).sessions.read(SESSION);
  const isOver = record?.runId === run.runId;
  const status = record?.status;
  return isOver && (status === 'completed' || status === 'interrupted' || status === 'failed')
    ? { kind: 'ended', step, status }
    : { kind: 'superseded' };
}
