import { createHmac } from 'node:crypto';
import { toShownSessionId } from '../../protocol/ids.js';
import { createLane, type LaneLimits, type Waiting } from './lanes.js';
import { createMailer, type Mailer } from './mail.js';
import { joinMessages, toFacts, toHeadline, toItemText, toPlace, type Message } from './message.js';
import { NotDelivered, post } from './post.js';
import type { NotifySettings, Receiver } from './settings.js';

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
  let mailer: Promise<Mailer> | undefined;
  const byName = new Map(
    receivers.map((receiver) => {
      const limits = { ...LANES[receiver.kind], perHour };
      const lane = createLane<Item>(limits, (items) => sendAsOne(receiver, items));
      return [receiver.name, { receiver, lane }];
    }),
  );

  async function sendAsOne(
    receiver: Receiver,
    items: readonly Item[],
  ): Promise<(Error | undefined)[]> {
    const made = await Promise.allSettled(items.map(({ toMessage }) => toMessage()));
    const [first, ...more] = made.flatMap((each) =>
      each.status === 'fulfilled' ? [each.value] : [],
    );
    if (first !== undefined) await transmit(receiver, joinMessages([first, ...more]), allOf(items));
    return made.map((each) => (each.status === 'rejected' ? (each.reason as Error) : undefined));
  }

  async function transmit(
    receiver: Receiver,
    message: Message,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (receiver.kind === 'mail') {
      if (mail === undefined) throw unknownReceiver(receiver.name);
      const { send } = await (mailer ??= createMailer(mail));
      return send(receiver.to, message);
    }
    const { url, privateNetwork } = receiver;
    const request =
      receiver.kind === 'webhook'
        ? toSignedRequest(receiver.secrets, message)
        : { body: JSON.stringify(toSlackMessage(message)) };
    return post(url, { ...request, privateNetwork, signal });
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
        ({ close }) => close(),
        // Each message that needed the mailer has failed with the reason.
        () => undefined,
      );
    },
  };
}

/** Returns a signal that aborts once all items are aborted. */
export function allOf(items: readonly Item[]): AbortSignal | undefined {
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

/** Writes a request of Standard Webhooks. All attempts share one `webhook-id`; each secret signs. */
export function toSignedRequest(
  secrets: readonly string[],
  message: Message,
): { headers: Record<string, string>; body: string } {
  const body = toBody(message);
  const { id } = message.notice;
  const seconds = String(Math.floor(Date.now() / 1_000));
  const sign = (secret: string): string => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
  };
  return {
    headers: {
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': secrets.map(sign).join(' '),
    },
    body,
  };
}

/** Returns the webhook's body: ids and names, and the input if the settings permit it. Pure. */
export function toBody({ notice, url, decideUrl, input, items }: Message): string {
  const { id: _id, type, at, sessionId, ...facts } = notice;
  const shown = sessionId === undefined ? undefined : toShownSessionId(sessionId);
  const calls = items?.map(({ title: _title, sessionId: _session, ...call }) => call);
  const data = { sessionId: shown, ...facts, ...(calls && { calls }), url, decideUrl, input };
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
}

/** Slack refuses blocks with longer texts. */
const MAX_TEXT = 3_000;

/** Returns a Block Kit message whose buttons are links, so Slack itself never decides a call. Pure. */
export function toSlackMessage(message: Message): object {
  const { notice, url, decideUrl, items = [] } = message;
  const headline = escaped(toHeadline(message));
  const facts = toFacts(message).map(([name, value]) => `*${name}* ${escaped(value)}`);
  const buttons = [
    ...(decideUrl === undefined ? [] : [decideButton(decideUrl)]),
    ...(url === undefined ? [] : [button(`Open ${toPlace(notice).title.toLowerCase()}`, url)]),
  ];
  return {
    text: headline,
    unfurl_links: false,
    blocks: [
      section(`*${headline}*`),
      ...(facts.length === 0 ? [] : [section(facts.join('\n'))]),
      ...items.map((item) => ({
        ...section(escaped(toItemText(item))),
        ...(item.decideUrl !== undefined && { accessory: decideButton(item.decideUrl) }),
      })),
      ...(buttons.length === 0 ? [] : [{ type: 'actions', elements: buttons }]),
    ],
  };
}

/** Returns a verbatim section: Slack turns no text into links or mentions. */
function section(text: string): object {
  return { type: 'section', text: { type: 'mrkdwn', text: shortened(text), verbatim: true } };
}

/** Shortens an escaped text without leaving half an escape sequence or half a character. */
function shortened(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const kept = text.slice(0, MAX_TEXT - 2).replace(/(?:&[a-z]*|[\ud800-\udbff])$/, '');
  return `${kept} …`;
}

function button(text: string, url: string): object {
  return { type: 'button', text: { type: 'plain_text', text }, url };
}

function decideButton(url: string): object {
  return { ...button('Decide', url), style: 'primary' };
}

/** Escapes text of models and tools, which must not mention channels or disguise links. */
function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[*_~`]/g, (mark) => `\u200b${mark}`);
}
