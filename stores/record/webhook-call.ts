import { createHash } from 'node:crypto';
import { LIMITS } from '../../protocol/limits.js';
import type { WebhookToken } from '../../protocol/webhook-token.js';

/** Characters of an id that a webhook's own part takes. */
const OWN_CHARS = 48;

/**
 * The call that waits for a webhook. Its id holds a hash of the secret, so who reads ids cannot call
 * the webhook, and a secret that is guessed finds no call.
 */
export function webhookCallId({ toolCallId, secret }: Omit<WebhookToken, 'sessionId'>): string {
  const hash = createHash('sha256').update(secret).digest('base64url');
  return `${toolCallId.slice(0, LIMITS.idChars - OWN_CHARS)}~${hash}`;
}
