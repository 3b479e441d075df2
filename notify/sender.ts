import { createLanes, type LaneLimits } from './lanes.js';
import { createMailer, type Mailer } from './mail.js';
import type { Message } from './message.js';
import { NotDelivered } from './not-delivered.js';
import type { Receiver } from './receivers.js';
import type { NotifySettings } from './settings.js';
import { sendSlack } from './slack.js';
import { sendWebhook } from './webhook.js';

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
