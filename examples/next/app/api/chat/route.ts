import { isForgedRequest, type HandleChatStreamParams } from 'helix-temporal/ai-sdk';
import { answerChat } from '../../../lib/main';

type Body = Pick<HandleChatStreamParams, 'messages' | 'trigger' | 'messageId'> & { id: string };

/** A message, or answers to what the agent asked. */
export async function POST(request: Request): Promise<Response> {
  // A sign-in by cookie would count for pages of other sites as well.
  if (isForgedRequest(request)) return new Response(null, { status: 403 });
  const { id, messages, trigger, messageId } = (await request.json()) as Body;
  return answerChat({ sessionId: id, messages, trigger, messageId, request });
}
