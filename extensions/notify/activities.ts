import { ApplicationFailure, Context } from '@temporalio/activity';
import { toShownSessionId } from '../../protocol/ids.js';
import type { Delivery, FailedDelivery, Notice, NoticeActivities } from '../../protocol/notices.js';
import { hashInput, toWords } from '../../protocol/shown-call.js';
import type { RunMeter } from '../../protocol/telemetry.js';
import { noticeQueueOf } from '../../protocol/temporal.js';
import { TIMES, type Times } from '../../protocol/limits.js';
import { toDeliveryId, toNoticeId } from '../../runs/deliveries.js';
import type { Deliveries } from '../../runs/extension.js';
import type { Store } from '../../store/contract/store.js';
import { asks } from '../../store/record/questions.js';
import type { WorkerHost, WorkerContributions } from '../../worker/extension.js';
import { createAnnounce } from './announce.js';
import { toDecideUrl } from './decide-links.js';
import { createDeliveries } from './deliveries.js';
import {
  titleOfAgent,
  titleOfTool,
  toPlace,
  type Agents,
  type Message,
  type MessageItem,
} from './message.js';
import { NotDelivered } from './post.js';
import { createSender, type Sender } from './sender.js';
import { approverIn, type NotifySettings, type Receiver } from './settings.js';

/** Concurrent activities of one process; most of them wait for a receiver's turn. */
const SLOTS = 300;
/** Limit over all processes, so that a flood of questions overloads neither Temporal nor receivers. */
const PER_SECOND = 50;
const BEAT_MS = 4_000;
const MAX_RETRY_MS = 10 * 60 * 60_000;
/** Each pause is this many times as long as the time since the first attempt. */
const GROWTH = 3;

/** Activities, task queue and slots of the worker for notices. `close` ends connections to mail servers. */
export function createNoticeWork(
  { temporal: { client, taskQueue }, store, agents, meter, times }: WorkerHost,
  settings: NotifySettings,
): WorkerContributions {
  const deliveries = createDeliveries({ client, taskQueue }, settings);
  const sender = createSender(settings);
  const announce = createAnnounce({ store, deliveries, settings });
  const activities: NoticeActivities = {
    announceWait: announce.wait,
    announceEnd: announce.end,
    announceFailure: createAnnounceFailure(deliveries, meter),
    sendNotice: createSend({ agents, store, sender, settings, meter, times }),
  };
  return {
    beside: {
      activities,
      taskQueue: noticeQueueOf(taskQueue),
      maxConcurrentActivityTaskExecutions: SLOTS,
      maxTaskQueueActivitiesPerSecond: PER_SECOND,
      maxConcurrentActivityTaskPolls: 2,
    },
    close: sender.close,
  };
}

/** Notifies the other receivers, once, of a delivery that failed for good. */
export function createAnnounceFailure({ announce }: Pick<Deliveries, 'announce'>, meter: RunMeter) {
  return async ({ notice, receiver, code }: FailedDelivery): Promise<void> => {
    const { type, sessionId, runId, agent, tenant, toolCallId, toolName } = notice;
    const deliveryId = toDeliveryId(notice, receiver);
    const failed: Notice = {
      id: toNoticeId(`delivery.failed ${deliveryId}`),
      type: 'delivery.failed',
      at: Date.now(),
      sessionId,
      runId,
      agent,
      tenant,
      toolCallId,
      toolName,
      receiver,
      code,
      delivery: toShownSessionId(deliveryId),
    };
    // A receiver that is gone fails many deliveries at once; as their owner it gets them joined.
    await announce(failed, receiver);
    meter({ kind: 'notice_tried', type, outcome: 'failed' });
  };
}

/**
 * Makes one attempt to deliver a notice. The attempt reads the data that the notice shows, as far as the receiver may
 * see them.
 */
export function createSend({
  agents,
  store,
  sender,
  settings: { publicUrl, includeInput, linkKeys },
  meter,
  times = TIMES,
}: {
  agents: Agents;
  store: Pick<Store, 'calls'>;
  sender: Pick<Sender, 'send'>;
  settings: NotifySettings;
  meter: RunMeter;
  times: Times | undefined;
}): NoticeActivities['sendNotice'] {
  /** Reads the parts of a call that the receiver may see. */
  async function readCall(
    { sessionId, runId, tenant }: Notice,
    toolCallId: string,
    receiver: Receiver,
  ): Promise<Pick<Message, 'decideUrl' | 'input'>> {
    const [key] = linkKeys;
    const approver = key === undefined ? undefined : approverIn(receiver, tenant);
    if (sessionId === undefined || !(includeInput || approver)) return {};
    const call = await store.calls.read(sessionId, toolCallId);
    if (call === undefined || call.spec.runId !== runId) return {};
    const { input, kind } = call.spec;
    const shown = includeInput && { input };
    if (!key || !publicUrl || !approver || kind !== 'approval' || !asks(call)) return { ...shown };
    const decideUrl = await toDecideUrl(publicUrl, key, {
      sub: approver.userId,
      roles: approver.roles,
      ...(approver.person !== undefined && { person: approver.person }),
      ...(tenant !== undefined && { tenant }),
      sessionId,
      toolCallId,
      runId,
      inputHash: hashInput(input),
    });
    return { decideUrl, ...shown };
  }

  async function toMessage(notice: Notice, receiver: Receiver): Promise<Message> {
    const { sessionId, agent, toolCallId, toolName, calls } = notice;
    const titleOf = (tool: string): string =>
      agent === undefined ? toWords(tool) : titleOfTool(agents, agent, tool);
    const message: Message = {
      notice,
      ...(agent !== undefined && {
        titles: { agent: titleOfAgent(agents, agent), tool: toolName && titleOf(toolName) },
      }),
      url: publicUrl && publicUrl + toPlace(notice).path,
    };
    if (toolCallId === undefined) return message;
    if (calls === undefined) {
      return { ...message, ...(await readCall(notice, toolCallId, receiver)) };
    }
    const items = calls.map(async (call): Promise<MessageItem> => ({
      ...call,
      ...(sessionId !== undefined && { sessionId }),
      title: titleOf(call.toolName),
      ...(await readCall(notice, call.toolCallId, receiver)),
    }));
    return { ...message, items: await Promise.all(items) };
  }

  return async ({ notice, receiver, whose: owner }: Delivery): Promise<void> => {
    const { cancellationSignal: signal, heartbeat, info } = Context.current();
    const { type, at, tenant = '' } = notice;
    const beating = setInterval(heartbeat, BEAT_MS);
    try {
      const whose = { tenant, owner, kind: type };
      await sender.send(receiver, (known) => toMessage(notice, known), whose, signal);
      // Reminders are late by design, so only the delay of a question's first notice counts.
      const delay = type.endsWith('.requested') && {
        seconds: Math.max(0, Date.now() - at) / 1_000,
      };
      meter({ kind: 'notice_tried', type, outcome: 'delivered', ...delay });
    } catch (error) {
      const { scheduledTimestampMs: first, currentAttemptScheduledTimestampMs: now } = info;
      // A final failure fails the delivery, which has its own count.
      if (error instanceof NotDelivered && !error.isFinal) {
        meter({ kind: 'notice_tried', type, outcome: 'retried' });
      }
      throw toFailure(error, now - first, times.noticeRetryMs);
    } finally {
      clearInterval(beating);
    }
  };
}

/**
 * Translates an error for Temporal, with the time of the next attempt.
 *
 * @param elapsedMs time from the first attempt to this one
 * @param leastMs shortest delay
 */
function toFailure(error: unknown, elapsedMs: number, leastMs: number): unknown {
  if (!(error instanceof NotDelivered)) return error;
  const { message, code, isFinal, retryAfterMs } = error;
  const delay = Math.min(Math.max(elapsedMs * GROWTH, leastMs), MAX_RETRY_MS);
  return ApplicationFailure.create({
    message,
    type: code,
    nonRetryable: isFinal,
    nextRetryDelay: retryAfterMs ?? Math.round(delay * (0.8 + 0.4 * Math.random())),
  });
}
