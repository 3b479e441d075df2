import type { Request } from 'express';
import {
  toStaticMessages,
  toToolParts,
  type StaticUIMessage,
  type UIMessage,
} from '../ai-sdk/index.js';
import { HEADERS } from '../protocol/http.js';

/** A reply with messages, whose calls are the parts that the request asks for. */
export function withToolParts<Reply extends { messages: UIMessage[] }>(
  request: Request,
  reply: Reply,
): Reply | (Omit<Reply, 'messages'> & { messages: StaticUIMessage[] }) {
  if (toToolParts(request.get(HEADERS.toolParts)) === 'dynamic') return reply;
  return { ...reply, messages: toStaticMessages(reply.messages) };
}
