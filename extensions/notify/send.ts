import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Delivery, Notice, NoticeCall } from '../../protocol/notices.js';
import { hashInput, toWords } from '../../protocol/shown-call.js';
import type { RunMeter } from '../../protocol/telemetry.js';
import { TIMES, type Times } from '../../protocol/times.js';
import type { Store } from '../../store/contract/store.js';
import { asks } from '../../store/record/questions.js';
import { toDecideUrl } from './decide-links.js';
import type { Message, MessageItem } from './message.js';
import { NotDelivered } from './not-delivered.js';
import { toPlace } from './place.js';
import { approverIn, type Receiver } from './receivers.js';
import type { Sender } from './sender.js';
import type { NotifySettings } from './settings.js';
import { titleOfAgent, titleOfTool } from './titles.js';

const BEAT_MS = 4_000;
const LONGEST_RETRY_MS = 10 * 60 * 60_000;
/** Each pause is this many times as long as the time since the first attempt. */
const GROWTH = 3;

export interface SendDeps {
  /** Agents with the titles that people know. */
  agents: Parameters<typeof titleOfAgent>[0];
  store: Pick<Store, 'calls'>;
  sender: Pick<Sender, 'send'>;
  settings: NotifySettings;
  meter: RunMeter;
  /** Default: `TIMES`. */
  times?: Times | undefined;
}

/**
 * Makes one attempt to deliver a notice. The attempt reads the data that the notice shows, as far as the receiver may
 * see them.
 */
export function createSend({ agents, store, sender, settings, meter, times = TIMES }: SendDeps) {
  const { publicUrl, includeInput, linkKeys } = settings;

  /** Reads the parts of a call that the receiver may see. */
  async function readCall(
    { sessionId, runId, tenant }: Notice,
    toolCallId: string,
    receiver: Receiver,
  ): Promise<Pick<Message, 'decideUrl' | 'input'>> {
    const approver = approverIn(receiver, tenant);
    const [key] = linkKeys;
    const mayNeed = includeInput || (approver !== undefined && key !== undefined);
    if (sessionId === undefined || !mayNeed) return {};
    const call = await store.calls.read(sessionId, toolCallId);
    if (call === undefined || call.spec.runId !== runId) return {};
    const { input } = call.spec;
    const decideUrl =
      key !== undefined &&
      publicUrl !== undefined &&
      approver !== undefined &&
      call.spec.kind === 'approval' &&
      asks(call)
        ? await toDecideUrl(publicUrl, key, {
            sub: approver.userId,
            roles: approver.roles,
            ...(approver.person !== undefined && { person: approver.person }),
            ...(tenant !== undefined && { tenant }),
            sessionId,
            toolCallId,
            runId: call.spec.runId,
            inputHash: hashInput(input),
          })
        : undefined;
    return { decideUrl, ...(includeInput && { input }) };
  }

  async function toMessage(notice: Notice, receiver: Receiver): Promise<Message> {
    const { sessionId, toolCallId, calls } = notice;
    const message = {
      notice,
      titles: titlesOf(notice),
      url: publicUrl === undefined ? undefined : publicUrl + toPlace(notice).path,
    };
    if (toolCallId === undefined) return message;
    if (calls === undefined) {
      return { ...message, ...(await readCall(notice, toolCallId, receiver)) };
    }
    const toItem = async (call: NoticeCall): Promise<MessageItem> => ({
      ...call,
      sessionId,
      title: titlesOf({ ...notice, ...call })?.tool ?? toWords(call.toolName),
      ...(await readCall(notice, call.toolCallId, receiver)),
    });
    return { ...message, items: await Promise.all(calls.map(toItem)) };
  }

  function titlesOf({ agent, toolName }: Notice): Message['titles'] {
    if (agent === undefined) return {};
    return {
      agent: titleOfAgent(agents, agent),
      tool: toolName === undefined ? undefined : titleOfTool(agents, agent, toolName),
    };
  }

  return async ({ notice, receiver, whose: owner }: Delivery): Promise<void> => {
    const { cancellationSignal: signal, heartbeat, info } = Context.current();
    const beating = setInterval(heartbeat, BEAT_MS);
    try {
      const whose = { tenant: notice.tenant ?? '', owner, kind: notice.type };
      await sender.send(receiver, (known) => toMessage(notice, known), whose, signal);
      meter({
        kind: 'notice_tried',
        type: notice.type,
        outcome: 'delivered',
        ...sinceAsked(notice),
      });
    } catch (error) {
      const { scheduledTimestampMs: first, currentAttemptScheduledTimestampMs: now } = info;
      // A final failure fails the delivery, which has its own count.
      if (error instanceof NotDelivered && !error.isFinal) {
        meter({ kind: 'notice_tried', type: notice.type, outcome: 'retried' });
      }
      throw toFailure(error, now - first, times.noticeRetryMs);
    } finally {
      clearInterval(beating);
    }
  };
}

/** Delay of the first notice of a question; reminders are late by design and have none. */
function sinceAsked({ type, at }: Notice): { seconds?: number } {
  return type.endsWith('.requested') ? { seconds: Math.max(0, Date.now() - at) / 1_000 } : {};
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
  const delay = Math.min(Math.max(elapsedMs * GROWTH, leastMs), LONGEST_RETRY_MS);
  return ApplicationFailure.create({
    message,
    type: code,
    nonRetryable: isFinal,
    nextRetryDelay: retryAfterMs ?? Math.round(delay * (0.8 + 0.4 * Math.random())),
  });
}
