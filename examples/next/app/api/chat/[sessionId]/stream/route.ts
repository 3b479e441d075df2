import { answerChat } from '../../../../../lib/main';

interface Context {
  params: Promise<{ sessionId: string }>;
}

/** Streams the reply to a page that was loaded again. */
export async function GET(request: Request, { params }: Context): Promise<Response> {
  const { sessionId } = await params;
  return answerChat({ sessionId, messages: [], request });
}
