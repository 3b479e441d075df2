import {
  ActivityCancellationType,
  condition,
  continueAsNew,
  defineSignal,
  executeChild,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { FloorActivities, Span } from './worker.js';

/*
 * The least that an agent run could be made of on this engine: the same numbers of activities, with
 * nothing inside them.
 */
const { mark, work, hang, outlive } = proxyActivities<FloorActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '5s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** `count` activities one after another; returns when each ran. Continues as new like the product. */
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

/** One activity, a wait for a signal, and so many activities more; says when the last one ran. */
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

/** So many steps of one activity and then two at once, and a last step of one. */
export async function floorPairs(steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    await mark();
    await Promise.all([mark(), mark()]);
  }
  await mark();
}

/** So many steps of one activity and then a child with one, and a last step of one. */
export async function floorChildren(steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    await mark();
    await executeChild(floorSteps, { args: [1] });
  }
  await mark();
}

/**
 * So many steps of an activity that takes its time and an idle one, and a last idle one; says when the
 * first began.
 */
export async function floorRun(steps: number, workMs: number): Promise<Span> {
  const first = work(workMs);
  for (let step = 1; step <= steps; step += 1) {
    await (step === 1 ? first : work(workMs));
    await mark();
  }
  await mark();
  return first;
}

/** One activity that hangs until the workflow is cancelled; says when it learned of it. */
export async function floorHang(): Promise<number> {
  return hang();
}

/** One activity that hangs until its worker dies; says when the next attempt began. */
export async function floorOutlive(): Promise<number> {
  return outlive();
}
