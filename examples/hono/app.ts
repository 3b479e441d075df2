import { Hono } from 'hono';
import {
  buildSnapshot,
  FrontendHandlerError,
  handleChatStream,
  type Caller,
  type HandleChatStreamDeps,
  type HandleChatStreamParams,
  type SnapshotDeps,
} from '../../ai-sdk/index.js';

type Body = Partial<Pick<HandleChatStreamParams, 'messages' | 'trigger' | 'messageId'>>;

/**
 * A chat for Hono, on whatever runs it. The deps are those of `handleChatStream`:
 * `{ executor, stateStore, streamManager, agent }`. `getUser` says who asks, by the app's own session:
 * it is all that keeps people apart.
 */
export function createChatApp(
  deps: HandleChatStreamDeps & SnapshotDeps,
  getUser: (request: Request) => Caller | Promise<Caller>,
): Hono {
  const app = new Hono();

  app.post('/api/chat/:sessionId', async (c) => {
    const { messages = [], trigger, messageId } = await c.req.json<Body>();
    const sessionId = c.req.param('sessionId');
    const said = { sessionId, messages, trigger, messageId, request: c.req.raw };
    return handleChatStream(deps, { ...said, ...(await getUser(c.req.raw)) });
  });

  app.get('/api/chat/:sessionId', async (c) => {
    const asked = { sessionId: c.req.param('sessionId'), messages: [], request: c.req.raw };
    return handleChatStream(deps, { ...asked, ...(await getUser(c.req.raw)) });
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
    if (error instanceof SyntaxError) return Response.json({ error: 'No JSON' }, { status: 400 });
    if (!(error instanceof FrontendHandlerError)) throw error;
    const { message, code, statusCode } = error;
    return Response.json({ error: message, code }, { status: statusCode });
  });

  return app;
}
