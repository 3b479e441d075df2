import { isForgedRequest, type HandleChatStreamParams } from 'helix-temporal/ai-sdk';
import { answerChat } from '../../../lib/main';

type Body = Pick<HandleChatStreamParams, 'messages' | 'trigger' | 'messageId'> & { id: string };

/** Takes a message, or answers to the agent's questions. */
export async function POST(request: Request): Promise<Response> {
  // Browsers send a sign-in cookie with other sites' requests as well.
  if (isForgedRequest(request)) return new Response(null, { status: 403 });
  const { id, messages, trigger, messageId } = (await request.json()) as Body;
  return answerChat({ sessionId: id, messages, trigger, messageId, request });
}
