import { Webhook } from 'standardwebhooks';
import { toShownSessionId } from '../protocol/ids.js';
import { createMailer, type Mailer } from './mail.js';
import type { Message } from './message.js';
import { NotDelivered } from './not-delivered.js';
import { post } from './post.js';
import type { Receiver } from './receivers.js';
import type { NotifySettings } from './settings.js';
import { sendSlack } from './slack.js';

/** Slack takes a message a second. */
const LANES: Record<Receiver['kind'], LaneLimits> = {
  webhook: { atOnce: 4, waiting: 16, paceMs: 20 },
  slack: { atOnce: 1, waiting: 16, paceMs: 1_000 },
  mail: { atOnce: 1, waiting: 16, paceMs: 100 },
};

export interface Sender {
  /**
   * One attempt.
   *
   * @param toMessage adds to a notice what this receiver may read
   * @throws NotDelivered
   */
  send: (
    receiver: string,
    toMessage: (receiver: Receiver) => Promise<Message>,
    signal?: AbortSignal,
  ) => Promise<void>;
  close: () => void;
}

/** Sends notices to the receivers of the settings. */
export function createSender({ receivers, mail }: NotifySettings): Sender {
  const byName = new Map(receivers.map((each) => [each.name, each]));
  const lanes = {
    webhook: createLanes(LANES.webhook),
    slack: createLanes(LANES.slack),
    mail: createLanes(LANES.mail),
  };
  let mailer: Promise<Mailer> | undefined;

  async function transmit(
    receiver: Receiver,
    message: Message,
    signal?: AbortSignal,
  ): Promise<void> {
    switch (receiver.kind) {
      case 'webhook':
        return sendWebhook(receiver, message, signal);
      case 'slack':
        return sendSlack(receiver, message, signal);
      case 'mail': {
        if (mail === undefined) throw unknownReceiver(receiver.name);
        const { send } = await (mailer ??= createMailer(mail));
        return send(receiver.to, message);
      }
    }
  }

  return {
    send: async (name, toMessage, signal) => {
      const receiver = byName.get(name);
      if (receiver === undefined) throw unknownReceiver(name);
      await lanes[receiver.kind](name, async () => {
        await transmit(receiver, await toMessage(receiver), signal);
      });
    },
    close: () => {
      mailer?.then(
        ({ close }) => {
          close();
        },
        // Each message that needed it failed with the reason.
        () => undefined,
      );
    },
  };
}

function unknownReceiver(name: string): NotDelivered {
  const text = `No receiver of the settings is named "${name}".`;
  return new NotDelivered('unknown_receiver', text, { isFinal: true });
}

/** How much one receiver, and all together, take in one process. */
interface LaneLimits {
  /** Attempts at once to one receiver. */
  atOnce: number;
  /** Attempts that wait for those; more are sent back. */
  waiting: number;
  /** Least time between the beginnings of two attempts to one receiver, ms. */
  paceMs: number;
}

interface Lane {
  active: number;
  waiting: (() => void)[];
  next: number;
}

/**
 * Lets few attempts to one receiver happen at once, so that one which hangs holds up neither the
 * others nor the process.
 *
 * @returns runs the work in its turn. @throws NotDelivered `busy` if too many wait
 */
export function createLanes(
  limits: LaneLimits,
): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  // As many as there are receivers: one that is idle keeps its pace.
  const lanes = new Map<string, Lane>();
  return async (name, work) => {
    const lane = lanes.get(name) ?? { active: 0, waiting: [], next: 0 };
    lanes.set(name, lane);
    if (lane.active >= limits.atOnce) {
      if (lane.waiting.length >= limits.waiting) throw busy();
      await new Promise<void>((resolve) => lane.waiting.push(resolve));
    } else lane.active += 1;
    try {
      const now = Date.now();
      const at = Math.max(lane.next, now);
      lane.next = at + limits.paceMs;
      if (at > now) await new Promise((resolve) => setTimeout(resolve, at - now));
      return await work();
    } finally {
      const next = lane.waiting.shift();
      // The place goes to the one that has waited longest.
      if (next === undefined) lane.active -= 1;
      else next();
    }
  };
}

function busy(): NotDelivered {
  const retryAfterMs = 5_000 + Math.round(Math.random() * 10_000);
  return new NotDelivered('busy', 'Too much is being sent to this receiver.', { retryAfterMs });
}

type WebhookReceiver = Extract<Receiver, { kind: 'webhook' }>;

/**
 * Sends a notice as a webhook of the format Standard Webhooks: `webhook-id` is the same for all attempts,
 * and each secret signs.
 *
 * @throws NotDelivered
 */
async function sendWebhook(
  { url, secrets, privateNetwork }: WebhookReceiver,
  message: Message,
  signal?: AbortSignal,
): Promise<void> {
  const body = toBody(message);
  const { id } = message.notice;
  const now = new Date();
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
  };
  await post(url, { headers, body, privateNetwork, signal });
}

/** Ids and names only, unless the settings add the input. Pure. */
export function toBody({ notice, url, decideUrl, input }: Message): string {
  const { id: _id, type, at, sessionId, ...facts } = notice;
  const shown = sessionId === undefined ? undefined : toShownSessionId(sessionId);
  const data = { sessionId: shown, ...facts, url, decideUrl, input };
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
}
