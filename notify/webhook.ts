import { Webhook } from 'standardwebhooks';
import { toShownSessionId } from '../protocol/ids.js';
import type { Message } from './message.js';
import { post } from './post.js';
import type { Receiver } from './receivers.js';

type WebhookReceiver = Extract<Receiver, { kind: 'webhook' }>;

/**
 * Sends a notice as a webhook of the format Standard Webhooks: `webhook-id` is the same for all attempts,
 * and each secret signs.
 *
 * @throws NotDelivered
 */
export async function sendWebhook(
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
