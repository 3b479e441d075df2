import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  defineSignal,
  proxyActivities,
  setHandler,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  Delivery,
  EndRef,
  NoticeActivities,
  WaitOver,
  WaitProgress,
  WaitRef,
} from '../../protocol/notices.js';
import { noticeQueueOf, SIGNALS } from '../../protocol/temporal-names.js';

/** Reads and starts only; while the record or Temporal is away, it is tried again without limit. */
const looks = proxyActivities<Omit<NoticeActivities, 'sendNotice'>>({
  startToCloseTimeout: '30s',
  // Also how often a call is looked at that people have not been asked about yet.
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '15s' },
});

const sends = proxyActivities<Pick<NoticeActivities, 'sendNotice'>>({
  heartbeatTimeout: '15s',
  startToCloseTimeout: '2m',
  // Each failed attempt says when the next one is due.
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '10h' },
});

const waitOver = defineSignal<[WaitOver?]>(SIGNALS.waitOver);
const waitGrown = defineSignal(SIGNALS.waitGrown);

/**
 * The notices of one wait for people: at once, as reminders, to the next receivers, and when it is
 * over. Each round reads the record, so a wait that was settled without a signal ends as well.
 */
export async function notifyWaiting(ref: WaitRef): Promise<void> {
  const taskQueue = noticeQueueOf(workflowInfo().taskQueue);
  let settled: WaitOver | undefined;
  setHandler(waitOver, (over) => {
    settled = over ?? {};
  });
  let grown = 0;
  setHandler(waitGrown, () => {
    grown += 1;
  });
  let progress: WaitProgress | undefined;
  for (;;) {
    const over = settled;
    const seen = grown;
    const look = { ...ref, ...(progress && { progress }), ...(over && { over }) };
    const outlook = await looks.announceWait.executeWithOptions({ taskQueue }, [look]);
    const hasGrown = (): boolean => grown > seen;
    if (over !== undefined || (outlook == null && !hasGrown())) return;
    progress = outlook?.progress;
    if (outlook == null || hasGrown()) continue;
    await condition(() => settled !== undefined || hasGrown(), outlook.againMs);
  }
}

/** The notice of one run's end. */
export async function notifyEnd(ref: EndRef): Promise<void> {
  const taskQueue = noticeQueueOf(workflowInfo().taskQueue);
  await looks.announceEnd.executeWithOptions({ taskQueue }, [ref]);
}

/**
 * One notice to one receiver, until it is taken. A delivery that fails for good fails its workflow:
 * these are the dead letters.
 */
export async function deliver(delivery: Delivery): Promise<void> {
  const { notice, receiver, retryForMs } = delivery;
  setCurrentDetails(`**${notice.type}** to ${receiver}`);
  const taskQueue = noticeQueueOf(workflowInfo().taskQueue);
  try {
    await sends.sendNotice.executeWithOptions(
      { taskQueue, scheduleToCloseTimeout: retryForMs, summary: receiver },
      [delivery],
    );
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    const why = cause instanceof ApplicationFailure ? cause : undefined;
    const code = why?.type ?? 'not_delivered';
    // A failure is notified of once, and the failure of that notice is not.
    const isAnnounced = notice.type !== 'delivery.failed' && notice.type !== 'test';
    if (isAnnounced) {
      // The delivery is not listed as failed before this is over.
      await looks.announceFailure
        .executeWithOptions({ taskQueue, scheduleToCloseTimeout: '10m' }, [
          { notice, receiver, code },
        ])
        .catch(() => undefined);
    }
    throw ApplicationFailure.nonRetryable(why?.message ?? 'It was not taken in time.', code);
  }
}
