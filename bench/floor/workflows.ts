import {
  ActivityCancellationType,
  condition,
  defineSignal,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import type { FloorActivities } from './activities.js';
import { FLOOR_RELEASE, type Span } from './names.js';

/*
 * The least that an agent run could be made of on this engine: the same numbers of activities, with
 * nothing inside them.
 */
const { mark, hang } = proxyActivities<FloorActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '5s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** As many activities one after another; says when each ran. */
export async function floorSteps(count: number): Promise<Span[]> {
  const spans: Span[] = [];
  while (spans.length < count) spans.push(await mark());
  return spans;
}

/** One activity, then a wait for a signal. */
export async function floorWait(): Promise<void> {
  let isReleased = false;
  setHandler(defineSignal(FLOOR_RELEASE), () => {
    isReleased = true;
  });
  await mark();
  await condition(() => isReleased);
}

/** One activity that hangs until the workflow is cancelled; says when it learned of it. */
export async function floorHang(): Promise<number> {
  return hang();
}
