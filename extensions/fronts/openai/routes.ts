import {
  defineRoute,
  inJson,
  type Route,
  type RouteDeps,
  SESSION_AND_RUN,
  toAgentCards,
} from '../../../api/extension.js';
import { isAddressable, notFound, toCaller } from '../../../ai-sdk/index.js';
import { HelixError } from '../../../protocol/errors.js';
import { HEADERS } from '../../../protocol/ids.js';
import { Completion, CompletionRequest, Model, ModelList, ModelPath } from './protocol.js';
import { POSTED_REFUSALS, toPostedAnswers } from '../posted-answers.js';
import { readOwnCalls } from '../replies.js';
import {
  readAnswers,
  readConversation,
  readEarlierSession,
  toPostedMessages,
  type Conversation,
} from './conversation.js';
import { RETRY_COUNT, takeRetryKey } from './retry-key.js';
import { replyCompletion } from './reply-completion.js';

export const OPENAI_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/v1/chat/completions',
    id: 'createCompletion',
    audits: 'act',
    summary: 'Send a message to an agent, or answer its calls, in the form of OpenAI',
    headers: ['sessionId', 'idempotencyKey'],
    body: CompletionRequest,
    replies: {
      200: {
        description: 'The reply, up to its end or to calls that wait for the program.',
        content: { json: Completion, events: 'Chunks of a completion, at the end `[DONE]`.' },
        headers: SESSION_AND_RUN,
      },
    },
    refusals: ['model_not_found', ...POSTED_REFUSALS],
    handle: async ({ deps, request, response, body, caller }) => {
      requireModel(deps, body.model);
      const session = request.get(HEADERS.sessionId);
      const tried = { caller, session, count: request.get(RETRY_COUNT), body };
      const key =
        request.get(HEADERS.idempotencyKey) ??
        (await takeRetryKey(deps.stateStore.requests, tried));
      const conversation = await findConversation(deps, body, { caller, session, key });
      const { sessionId, answers, inputs } = conversation;
      const before = answers.size > 0 ? await readOwnCalls(deps, sessionId, caller) : undefined;
      if (answers.size > 0 && before === undefined) throw notFound();
      const answered =
        before && toPostedAnswers({ ...readAnswers(answers, before), inputs }, before);
      const messages = [...(answered ?? []), ...toPostedMessages(conversation)];
      const params = { ...toCaller(caller), sessionId, messages, agent: body.model };
      await replyCompletion({ deps, response, caller }, { params, before, request: body });
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/models',
    id: 'listModels',
    audits: 'none',
    summary: 'List the agents in the form of OpenAI',
    replies: inJson(200, 'The agents.', ModelList),
    handle: ({ deps, response }) => {
      const data = toAgentCards(deps.agents).map(({ name }) => toModel(name));
      response.json({ object: 'list', data } satisfies ModelList);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/models/:model',
    id: 'getModel',
    audits: 'none',
    summary: 'Get an agent in the form of OpenAI',
    params: ModelPath,
    replies: inJson(200, 'The agent.', Model),
    refusals: ['model_not_found'],
    handle: ({ deps, response, params }) => {
      requireModel(deps, params.model);
      response.json(toModel(params.model) satisfies Model);
    },
  }),
];

/**
 * Finds the conversation that a request names. Otherwise the calls in the client's copy name it, if it is
 * the caller's own with this agent.
 */
async function findConversation(
  deps: RouteDeps,
  body: CompletionRequest,
  named: Parameters<typeof readConversation>[1],
): Promise<Conversation> {
  const conversation = readConversation(body, named);
  const earlier = conversation.isNew ? readEarlierSession(body) : undefined;
  if (earlier === undefined) return conversation;
  const own = await readOwnCalls(deps, earlier, named.caller);
  if (own?.record.agent !== body.model) return conversation;
  return readConversation(body, { ...named, session: earlier });
}

/** OpenAI's clients recognize an unknown model by status 404 and this code. @throws HelixError */
function requireModel({ agents }: Pick<RouteDeps, 'agents'>, name: string): void {
  if (isAddressable(agents, name)) return;
  throw new HelixError('model_not_found', 'There is no such model: models are the agents by name.');
}

function toModel(id: string): Model {
  return { id, object: 'model', created: 0, owned_by: 'helix-temporal' };
}
