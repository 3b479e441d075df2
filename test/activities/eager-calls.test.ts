import type { CallActivityRef, ToolCallOutcome } from '../../protocol/temporal.js';
import type { CallRef, StepOutcome } from '../../protocol/run.js';
import { type Attempt, AttemptFailure } from '../../activities/attempt.js';
import { createEagerCalls } from '../../activities/eager-calls.js';

const SETTLED: ToolCallOutcome = { kind: 'settled' };
const attempt = { token: 7_000, number: 2 } as Attempt;
const eagerRef = { toolCallId: 'c1', eager: true } as CallActivityRef;

function stepOf(count: number): StepOutcome {
  const call: CallRef = { toolCallId: 'c', toolName: 'echo', kind: 'server' };
  return { kind: 'calls', step: 1, calls: Array.from({ length: count }, () => call) };
}

/** Work that lasts until `end` is called. */
function lasting<Result>(result: Result): { work: Promise<Result>; end: () => void } {
  let end = (): void => undefined;
  const work = new Promise<Result>((resolve) => {
    end = () => {
      resolve(result);
    };
  });
  return { work, end };
}

describe('calls that start eagerly', () => {
  it('a step is offered as many as Temporal starts at once, and not more than it has', () => {
    const eager = createEagerCalls(100);
    expect([1, 3, 8].map((count) => eager.offer(stepOf(count)))).toEqual([1, 3, 3]);
    expect(eager.offer(stepOf(0))).toBe(0);
    expect(eager.offer({ kind: 'superseded' })).toBe(0);
  });

  it('a worker whose slots are unknown, or few, offers none', () => {
    expect(createEagerCalls().offer(stepOf(1))).toBe(0);
    expect(createEagerCalls(3).offer(stepOf(1))).toBe(0);
  });

  it('none are offered while half of the places are taken', async () => {
    const eager = createEagerCalls(8);
    const models = [1, 2, 3, 4].map(() => lasting('spoken'));
    const asked = models.map(({ work }) => eager.beside(work));
    expect(eager.offer(stepOf(1))).toBe(0);
    models[0]?.end();
    expect(await asked[0]).toBe('spoken');
    expect(eager.offer(stepOf(1))).toBe(1);
    const failing = eager.beside(Promise.reject(new Error('no model')));
    await expect(failing).rejects.toThrow('no model');
    expect(eager.offer(stepOf(1))).toBe(1);
    const call = lasting(SETTLED);
    const settled = eager.call(eagerRef, attempt, () => call.work);
    expect(eager.offer(stepOf(1))).toBe(0);
    call.end();
    await settled;
    expect(eager.offer(stepOf(1))).toBe(1);
  });

  it('one that finds no place is left to the tools’ own queue, before anything has begun', async () => {
    const eager = createEagerCalls(4);
    const first = lasting(SETTLED);
    const settled = eager.call(eagerRef, attempt, () => first.work);
    expect(eager.offer(stepOf(1))).toBe(0);
    let hasBegun = false;
    const begin = (): Promise<ToolCallOutcome> => {
      hasBegun = true;
      return Promise.resolve(SETTLED);
    };
    const moved = { kind: 'lost', token: 7_000, number: 2, begun: false, moved: true };
    expect(await eager.call(eagerRef, attempt, begin)).toEqual(moved);
    expect(hasBegun).toBe(false);
    // Those of the tools' own queue have its slots.
    const { eager: _, ...ownRef } = eagerRef;
    expect(await eager.call(ownRef, attempt, begin)).toBe(SETTLED);
    first.end();
    expect(await settled).toBe(SETTLED);
    expect(await eager.call(eagerRef, attempt, begin)).toBe(SETTLED);
  });

  it('one whose user has all of their places for tools is left to the tools’ own queue', async () => {
    const eager = createEagerCalls(4);
    const busy = (): Promise<ToolCallOutcome> =>
      Promise.reject(new AttemptFailure('all places are taken', { type: 'tools_busy' }));
    const moved = { kind: 'lost', token: 7_000, number: 2, begun: false, moved: true };
    expect(await eager.call(eagerRef, attempt, busy)).toEqual(moved);
    const { eager: _, ...ownRef } = eagerRef;
    await expect(eager.call(ownRef, attempt, busy)).rejects.toThrow('all places are taken');
  });

  it('one that fails gives its place back', async () => {
    const eager = createEagerCalls(4);
    // A tool that is to be retried keeps its back-off.
    for (const error of [new Error('away'), new AttemptFailure('again', { type: 'tool_retry' })]) {
      await expect(eager.call(eagerRef, attempt, () => Promise.reject(error))).rejects.toBe(error);
    }
    expect(await eager.call(eagerRef, attempt, () => Promise.resolve(SETTLED))).toBe(SETTLED);
  });
});
