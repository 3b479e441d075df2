import {
  defineRoute,
  inJson,
  openForOperator,
  readHidden,
  requireNoTenant,
  type Route,
  sendMessages,
  SESSION,
  toOperatorQuestions,
} from '../../api/extension.js';
import { loadUIMessages, notFound } from '../../ai-sdk/index.js';
import { HelixError } from '../../protocol/errors.js';
import { MessagesQuery, SessionPath } from '../../protocol/http.js';
import { OperatorSession, OperatorWorkers } from '../../protocol/operator.js';

export const OPERATOR_SESSION_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/operator/sessions/:sessionId',
    id: 'readTenantSession',
    audits: 'read',
    summary: 'Read a conversation of the tenant',
    params: SessionPath,
    query: MessagesQuery,
    replies: inJson(
      200,
      'A page of its messages, oldest first, and what waits for people.',
      OperatorSession,
      SESSION,
    ),
    refusals: ['not_found'],
    entry: 'read',
    about: ({ deps, caller, params }) => openForOperator(deps, caller, 'read', params.sessionId),
    handle: async ({ deps, response, params, query, caller, about: record }) => {
      const { hidden, ...page } = query;
      const own = { userId: record.owner, tenantId: record.tenant };
      const options = { ...page, filterHidden: hidden !== 'true', caller: own };
      const [messages, found] = await Promise.all([
        loadUIMessages(deps.stateStore, params.sessionId, options),
        deps.stateStore.sessions.withCalls(record.sessionId),
      ]);
      if (found === undefined) throw notFound();
      const { agent, owner, createdAt, updatedAt, runId, status } = found.record;
      const pending = await toOperatorQuestions(deps, caller, found);
      await sendMessages(response, {
        ...messages,
        sessionId: params.sessionId,
        agent,
        owner,
        createdAt,
        updatedAt,
        run: { runId, status },
        pending,
        ...(pending.length > 0 && (await readHidden(deps, found.record))),
      } satisfies OperatorSession);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/workers',
    id: 'listWorkers',
    audits: 'none',
    summary: 'List the workers that ask Temporal for work, and the leases that they hold',
    replies: inJson(200, 'The workers.', OperatorWorkers),
    refusals: ['not_allowed', 'not_found', 'unavailable'],
    handle: async ({ deps, response, caller }) => {
      await requireNoTenant(deps, caller, 'Workers are listed');
      const { readWorkers } = deps;
      if (readWorkers === undefined)
        throw new HelixError('not_found', 'There are no workers here.');
      const reply = await readWorkers();
      response.json(reply satisfies OperatorWorkers);
    },
  }),
];
