import type { HandleChatStreamParams } from '../../../../../../ai-sdk/index.js';
import { dispatchChat } from '../../../../lib/main.js';

/** The path of the route, as Next.js 15 and newer give it. */
interface Context {
  params: Promise<{ sessionId: string }>;
}

type Body = Partial<Pick<HandleChatStreamParams, 'messages' | 'trigger' | 'messageId'>>;

/** A message, or answers to what the agent asked. */
export async function POST(request: Request, { params }: Context): Promise<Response> {
  const { sessionId } = await params;
  const { messages = [], trigger, messageId } = (await request.json()) as Body;
  return dispatchChat({ sessionId, messages, trigger, messageId, request });
}

/** A page that was loaded again follows what is at work. */
export async function GET(request: Request, { params }: Context): Promise<Response> {
  const { sessionId } = await params;
  return dispatchChat({ sessionId, messages: [], request });
}
