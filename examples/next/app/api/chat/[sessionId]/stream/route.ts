import { answerChat } from '../../../../../lib/main';

interface Context {
  params: Promise<{ sessionId: string }>;
}

/** A page that was loaded again follows the reply. */
export async function GET(request: Request, { params }: Context): Promise<Response> {
  const { sessionId } = await params;
  return answerChat({ sessionId, messages: [], request });
}
