import { getSnapshot } from '../../../../../lib/main';

interface Context {
  params: Promise<{ sessionId: string }>;
}

/** Returns the conversation to a page that loads it again. */
export async function GET(_request: Request, { params }: Context): Promise<Response> {
  const { sessionId } = await params;
  const snapshot = await getSnapshot(sessionId);
  if (snapshot === null) return Response.json({ error: 'Not found' }, { status: 404 });
  return Response.json(snapshot, { headers: { 'cache-control': 'no-store' } });
}
