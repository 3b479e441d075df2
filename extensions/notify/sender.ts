import { createHmac } from 'node:crypto';
import { toShownSessionId } from '../../protocol/ids.js';
import { createLane, type LaneLimits, type Waiting } from './lanes.js';
import { createMailer, type Mailer } from './mail.js';
import { joinMessages, type Message } from './message.js';
import { NotDelivered } from './not-delivered.js';
import { post } from './post.js';
import type { Receiver } from './receivers.js';
import type { NotifySettings } from './settings.js';
import { sendSlack } from './slack.js';

/** Slack accepts one message a second. Webhooks get each notice unjoined. */
const LANES: Record<Receiver['kind'], Omit<LaneLimits, 'perHour'>> = {
  webhook: { atOnce: 4, waiting: 16, paceMs: 20, joins: false },
  slack: { atOnce: 1, waiting: 20, paceMs: 1_000, joins: true },
  mail: { atOnce: 1, waiting: 20, paceMs: 100, joins: true },
};

/** A queued notice; its message is made when its turn comes. */
interface Item {
  toMessage: () => Promise<Message>;
  signal: AbortSignal | undefined;
}

export interface Sender {
  /**
   * Makes one attempt, possibly joined with other notices of the same owner.
   *
   * @param toMessage adds the data to the notice that this receiver may see
   * @throws NotDelivered
   */
  send: (
    receiver: string,
    toMessage: (receiver: Receiver) => Promise<Message>,
    whose: Waiting,
    signal?: AbortSignal,
  ) => Promise<void>;
  close: () => void;
}

/** Sends notices to the receivers of the settings. */
export function createSender({ receivers, mail, perHour }: NotifySettings): Sender {
  const byName = new Map(
    receivers.map((receiver) => {
      const limits = { ...LANES[receiver.kind], perHour };
      return [receiver.name, { receiver, lane: createLane(limits, sendTo(receiver)) }];
    }),
  );
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

  function sendTo(receiver: Receiver) {
    return async (items: readonly Item[]): Promise<(Error | undefined)[]> => {
      const made = await Promise.allSettled(items.map(({ toMessage }) => toMessage()));
      const [first, ...more] = made.flatMap((each) =>
        each.status === 'fulfilled' ? [each.value] : [],
      );
      if (first !== undefined) {
        await transmit(receiver, joinMessages([first, ...more]), allOf(items));
      }
      return made.map((each) => (each.status === 'rejected' ? (each.reason as Error) : undefined));
    };
  }

  return {
    send: async (name, toMessage, whose, signal) => {
      const found = byName.get(name);
      if (found === undefined) throw unknownReceiver(name);
      const { receiver, lane } = found;
      await lane({ toMessage: () => toMessage(receiver), signal }, whose, signal);
    },
    close: () => {
      mailer?.then(
        ({ close }) => {
          close();
        },
        // Each message that needed the mailer has failed with the reason.
        () => undefined,
      );
    },
  };
}

/** Returns a signal that aborts once all items are aborted. */
function allOf(items: readonly Item[]): AbortSignal | undefined {
  const signals = items.flatMap(({ signal }) => signal ?? []);
  if (signals.length < items.length) return undefined;
  const over = new AbortController();
  const look = (): void => {
    if (signals.every(({ aborted }) => aborted)) over.abort();
  };
  for (const signal of signals) signal.addEventListener('abort', look, { once: true });
  look();
  return over.signal;
}

function unknownReceiver(name: string): NotDelivered {
  const text = `No receiver of the settings is named "${name}".`;
  return new NotDelivered('unknown_receiver', text, { isFinal: true });
}

type WebhookReceiver = Extract<Receiver, { kind: 'webhook' }>;

/**
 * Sends a notice in the format of Standard Webhooks. All attempts share one `webhook-id`; each secret signs.
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
  const seconds = String(Math.floor(Date.now() / 1_000));
  const sign = (secret: string): string => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  };
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': secrets.map(sign).join(' '),
  };
  await post(url, { headers, body, privateNetwork, signal });
}

/** Returns the webhook's body: ids and names, and the input if the settings permit it. Pure. */
export function toBody({ notice, url, decideUrl, input, items }: Message): string {
  const { id: _id, type, at, sessionId, ...facts } = notice;
  const shown = sessionId === undefined ? undefined : toShownSessionId(sessionId);
  const calls = items?.map(({ title: _title, sessionId: _session, ...call }) => call);
  const data = { sessionId: shown, ...facts, ...(calls && { calls }), url, decideUrl, input };
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
}
