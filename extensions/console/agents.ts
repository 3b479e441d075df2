import { type Call, defineRoute, type Route, toActor } from '../../api/extension.js';
import type { AgentPauses, PauseRequest } from '../../runs/extension.js';
import { isAddressable, requireAllowed } from '../../ai-sdk/index.js';
import {
  OperatorAgentPath,
  OperatorAgents,
  OperatorPauseBody,
  OperatorPauseReply,
} from '../../protocol/operator.js';
import { HelixError } from '../../protocol/errors.js';

const act = {
  method: 'post',
  params: OperatorAgentPath,
  body: OperatorPauseBody,
  refusals: ['not_allowed', 'agent_not_found'],
} as const;

/** Routes of the server's agents and their pauses. */
export const OPERATOR_AGENT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/operator/agents',
    id: 'listAgents',
    audits: 'none',
    summary: 'List the agents, who has paused them, and how many runs are held back',
    replies: { 200: { description: 'The agents.', content: { json: OperatorAgents } } },
    refusals: ['not_allowed'],
    handle: async ({ deps, response, caller }) => {
      await requireAllowed(deps, caller, 'read');
      const { pauses } = deps.executor;
      const [paused, held] = await Promise.all([pauses.list(), pauses.held()]);
      const names = deps.agents.getRegisteredTypes();
      const isShown = (of: { tenant?: string | undefined; everywhere?: boolean }): boolean =>
        of.everywhere === true || (of.tenant ?? '') === (caller.tenantId ?? '');
      const agents = names.map((name) => ({
        name,
        isPublic: isAddressable(deps.agents, name),
        isDefault: name === deps.defaultAgent,
        pauses: paused
          .filter((pause) => pause.agent === name && isShown(pause))
          .map(({ everywhere, at, by, reason }) =>
            // Tenants must not learn who works for the installation.
            everywhere && caller.tenantId !== undefined
              ? { everywhere, at }
              : { everywhere, at, by, reason },
          ),
        held: held
          .filter((each) => each.agent === name && isShown(each))
          .reduce((sum, { count }) => sum + count, 0),
      }));
      response.json({ agents } satisfies OperatorAgents);
    },
  }),
  defineRoute({
    ...act,
    path: '/api/operator/agents/:agent/pause',
    id: 'pauseAgent',
    audits: 'act',
    summary: 'Pause an agent: its runs continue, new ones wait until it is resumed',
    replies: { 200: { description: 'It is paused.', content: { json: OperatorPauseReply } } },
    handle: async (call) => {
      const { pauses, request } = await open(call);
      const isNew = await pauses.pause(request);
      const result = isNew ? 'paused' : 'already_paused';
      call.response.json({ result } satisfies OperatorPauseReply);
    },
  }),
  defineRoute({
    ...act,
    path: '/api/operator/agents/:agent/unpause',
    id: 'unpauseAgent',
    audits: 'act',
    summary: 'Resume an agent: what was held back starts in its order, 20 runs a second',
    replies: { 200: { description: 'It is not paused.', content: { json: OperatorPauseReply } } },
    handle: async (call) => {
      const { pauses, request } = await open(call);
      const wasPaused = await pauses.resume(request);
      const result = wasPaused ? 'resumed' : 'not_paused';
      call.response.json({ result } satisfies OperatorPauseReply);
    },
  }),
];

type Asked = Call<'caller', typeof OperatorAgentPath, undefined, typeof OperatorPauseBody>;

/** @throws HelixError `not_allowed`, `agent_not_found` */
async function open(call: Asked): Promise<{ pauses: AgentPauses; request: PauseRequest }> {
  const { deps, caller, params, body } = call;
  await requireAllowed(deps, caller, 'pause');
  if (body.everywhere && caller.tenantId !== undefined) {
    throw new HelixError('not_allowed', 'All tenants are for callers without a tenant.');
  }
  if (!deps.agents.getRegisteredTypes().includes(params.agent)) {
    throw new HelixError('agent_not_found', 'This server has no such agent.');
  }
  const { pauses } = deps.executor;
  const { everywhere, reason } = body;
  const scope = { agent: params.agent, everywhere, tenant: caller.tenantId };
  return { pauses, request: { ...scope, ...toActor(call), reason } };
}
