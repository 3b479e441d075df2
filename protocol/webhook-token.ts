import { z } from 'zod';
import { isStreamId } from './ids.js';

/** What the address of a webhook names: the call that waits, and a secret that only the address holds. */
export interface WebhookToken {
  /** As it is stored. */
  sessionId: string;
  /** Of the tool that waits. */
  toolCallId: string;
  secret: string;
}

const MOST_CHARS = 2_048;
const SHORTEST_SECRET = 32;
const Token = z.tuple([
  z.string().refine(isStreamId),
  z.string().min(1),
  z.string().min(SHORTEST_SECRET),
]);

export function formatWebhookToken({ sessionId, toolCallId, secret }: WebhookToken): string {
  return Buffer.from(JSON.stringify([sessionId, toolCallId, secret])).toString('base64url');
}

/** Undefined for what is no token. */
export function parseWebhookToken(token: string): WebhookToken | undefined {
  if (token.length > MOST_CHARS || !/^[A-Za-z0-9_-]+$/.test(token)) return undefined;
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    const [sessionId, toolCallId, secret] = Token.parse(parts);
    return { sessionId, toolCallId, secret };
  } catch {
    return undefined;
  }
}
