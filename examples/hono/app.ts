import { Hono } from 'hono';
import {
  buildSnapshot,
  FrontendHandlerError,
  handleChatStream,
  isForgedRequest,
  type Caller,
  type HandleChatStreamDeps,
  type HandleChatStreamParams,
  type SnapshotDeps,
} from 'helix-temporal/ai-sdk';

type Body = Partial<Pick<HandleChatStreamParams, 'messages' | 'trigger' | 'messageId'>>;

/**
 * Creates a chat for Hono on any runtime.
 *
 * @param deps those of `handleChatStream`: `{ executor, stateStore, streamManager, agent }`
 * @param getUser returns the signed-in user of a request; nothing else keeps users apart
 */
export function createChatApp(
  deps: HandleChatStreamDeps & SnapshotDeps,
  getUser: (request: Request) => Caller | Promise<Caller>,
): Hono {
  const app = new Hono();

  app.post('/api/chat/:sessionId', async (c) => {
    // Browsers send a sign-in cookie with other sites' requests as well.
    if (isForgedRequest(c.req.raw)) return c.json({ error: 'Not from this site.' }, 403);
    const { messages = [], trigger, messageId } = await c.req.json<Body>();
    const sessionId = c.req.param('sessionId');
    const params = { sessionId, messages, trigger, messageId, request: c.req.raw };
    return handleChatStream(deps, { ...params, ...(await getUser(c.req.raw)) });
  });

  app.get('/api/chat/:sessionId', async (c) => {
    const params = { sessionId: c.req.param('sessionId'), messages: [], request: c.req.raw };
    return handleChatStream(deps, { ...params, ...(await getUser(c.req.raw)) });
  });

  app.get('/api/chat/:sessionId/snapshot', async (c) => {
    const snapshot = await buildSnapshot(deps, {
      sessionId: c.req.param('sessionId'),
      caller: await getUser(c.req.raw),
    });
    if (snapshot === null) return c.json({ error: 'Not found' }, 404);
    return Response.json(snapshot, { headers: { 'cache-control': 'no-store' } });
  });

  app.onError((error) => {
    if (error instanceof SyntaxError)
      return Response.json({ error: 'The body is not JSON.' }, { status: 400 });
    if (!(error instanceof FrontendHandlerError)) throw error;
    const { message, code, statusCode } = error;
    return Response.json({ error: message, code }, { status: statusCode });
  });

  return app;
}
