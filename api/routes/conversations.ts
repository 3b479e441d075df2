import { Router, type Response } from 'express';
import { ConversationsQuery, type Conversations } from '../../protocol/http.js';
import { toShownSessionId } from '../../protocol/ids.js';
import type { ApiDeps } from '../deps.js';
import type { ReadIdentity } from '../identity.js';
import { parseQuery } from '../validate.js';

/** The caller's conversations. */
export function createConversationsRoutes(
  { stateStore: { owners } }: Pick<ApiDeps, 'stateStore'>,
  readIdentity: ReadIdentity,
): Router {
  const router = Router();
  router.get('/', async (request, response: Response<Conversations>) => {
    const { userId: owner, tenantId: tenant } = await readIdentity(request);
    const { limit, cursor } = parseQuery(ConversationsQuery, request);
    const page = await owners.page(
      { owner, ...(tenant !== undefined && { tenant }) },
      { limit, ...(cursor !== undefined && { cursor }) },
    );
    const conversations = page.conversations.map((each) => ({
      ...each,
      sessionId: toShownSessionId(each.sessionId),
    }));
    response.set('cache-control', 'no-store').json({ ...page, conversations });
  });
  return router;
}
