import { ApplicationFailure, Context } from '@temporalio/activity';
import { titleOfAgent, titleOfTool } from '../../agents/titles.js';
import { hashInput, toDecideUrl } from '../../notify/links.js';
import type { Message } from '../../notify/message.js';
import { toPlace } from '../../notify/place.js';
import { NotDelivered } from '../../notify/not-delivered.js';
import { approverIn, type Receiver } from '../../notify/receivers.js';
import type { Sender } from '../../notify/sender.js';
import type { NotifySettings } from '../../notify/settings.js';
import type { Delivery, Notice } from '../../protocol/notices.js';
import type { RunMeter } from '../../protocol/run-meter.js';
import type { Store } from '../../stores/contract/store.js';
import { asks } from '../../stores/record/waiting-page.js';

const BEAT_MS = 4_000;
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 10 * 60 * 60_000;
/** Each wait is so many times as long as all before it. */
const GROWTH = 3;

export interface SendDeps {
  /** What people know agents and tools by. */
  agents: Parameters<typeof titleOfAgent>[0];
  store: Pick<Store, 'calls'>;
  sender: Pick<Sender, 'send'>;
  settings: NotifySettings;
  meter: RunMeter;
}

/** One attempt to deliver a notice; what it shows is read now, as far as the receiver may see it. */
export function createSend({ agents, store, sender, settings, meter }: SendDeps) {
  const { publicUrl, includeInput, linkKeys } = settings;

  async function toMessage(notice: Notice, receiver: Receiver): Promise<Message> {
    const { sessionId, toolCallId } = notice;
    const url = publicUrl === undefined ? undefined : publicUrl + toPlace(notice).path;
    const approver = approverIn(receiver, notice.tenant);
    const mayNeed = includeInput || (approver !== undefined && linkKeys.length > 0);
    if (sessionId === undefined || toolCallId === undefined || !mayNeed) return { notice, url };
    const call = await store.calls.read(sessionId, toolCallId);
    if (call === undefined || call.spec.runId !== notice.runId) return { notice, url };
    const { input } = call.spec;
    const [key] = linkKeys;
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
            ...(notice.tenant !== undefined && { tenant: notice.tenant }),
            sessionId,
            toolCallId,
            runId: call.spec.runId,
            inputHash: hashInput(input),
          })
        : undefined;
    return { notice, url, decideUrl, ...(includeInput && { input }) };
  }

  function titlesOf({ agent, toolName }: Notice): Message['titles'] {
    if (agent === undefined) return {};
    return {
      agent: titleOfAgent(agents, agent),
      tool: toolName === undefined ? undefined : titleOfTool(agents, agent, toolName),
    };
  }

  return async ({ notice, receiver }: Delivery): Promise<void> => {
    const { cancellationSignal: signal, heartbeat, info } = Context.current();
    const beating = setInterval(heartbeat, BEAT_MS);
    try {
      const titles = titlesOf(notice);
      await sender.send(
        receiver,
        async (known) => ({ ...(await toMessage(notice, known)), titles }),
        signal,
      );
      meter({
        kind: 'notice_tried',
        type: notice.type,
        outcome: 'delivered',
        ...sinceAsked(notice),
      });
    } catch (error) {
      const { scheduledTimestampMs: first, currentAttemptScheduledTimestampMs: now } = info;
      // One that is final fails the delivery, which is counted then.
      if (error instanceof NotDelivered && !error.isFinal) {
        meter({ kind: 'notice_tried', type: notice.type, outcome: 'retried' });
      }
      throw toFailure(error, now - first);
    } finally {
      clearInterval(beating);
    }
  };
}

/** Only of the notice that comes first; others come when they are due. */
function sinceAsked({ type, at }: Notice): { seconds?: number } {
  return type.endsWith('.requested') ? { seconds: Math.max(0, Date.now() - at) / 1_000 } : {};
}

/** What Temporal shows, and when it tries again. @param elapsedMs from the first attempt to this one */
function toFailure(error: unknown, elapsedMs: number): unknown {
  if (!(error instanceof NotDelivered)) return error;
  const { message, code, isFinal, retryAfterMs } = error;
  const delay = Math.min(Math.max(elapsedMs * GROWTH, FIRST_RETRY_MS), LONGEST_RETRY_MS);
  return ApplicationFailure.create({
    message,
    type: code,
    nonRetryable: isFinal,
    nextRetryDelay: retryAfterMs ?? Math.round(delay * (0.8 + 0.4 * Math.random())),
  });
}
