import {
  ActivityCancellationType,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { FloorActivities, Span } from './worker.js';

/* The minimum of an agent run on this engine: the same numbers of activities, with nothing inside them. */
const { mark, work, hang, outlive } = proxyActivities<FloorActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '5s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** Runs `count` activities one after the other and returns their times. Continues as new like the product. */
export async function floorSteps(count: number, before: Span[] = []): Promise<Span[]> {
  const spans = [...before];
  while (spans.length < count) {
    spans.push(await mark());
    if (workflowInfo().continueAsNewSuggested && spans.length < count) {
      await continueAsNew<typeof floorSteps>(count, spans);
    }
  }
  return spans;
}

/** Runs one activity, waits for a signal, runs `after` more, and returns the last one's times. */
export async function floorWait(after: number): Promise<Span | undefined> {
  let isReleased = false;
  setHandler(defineSignal('release'), () => {
    isReleased = true;
  });
  await mark();
  await condition(() => isReleased);
  let last: Span | undefined;
  for (let done = 0; done < after; done += 1) last = await mark();
  return last;
}

/** Runs steps of one activity and then two at once; the last step has one. */
export async function floorPairs(steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    await mark();
    await Promise.all([mark(), mark()]);
  }
  await mark();
}

/** Runs steps of a working activity and an idle one, and a last idle one; returns the first one's times. */
export async function floorRun(steps: number, workMs: number): Promise<Span> {
  const first = work(workMs);
  for (let step = 1; step <= steps; step += 1) {
    await (step === 1 ? first : work(workMs));
    await mark();
  }
  await mark();
  return first;
}

/** Hangs until the workflow is cancelled; returns the time when the activity noticed. */
export async function floorHang(): Promise<number> {
  return hang();
}

/** Hangs until the worker dies; returns the start of the next attempt. */
export async function floorOutlive(): Promise<number> {
  return outlive();
}
