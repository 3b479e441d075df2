import {
  defineRoute,
  type Identity,
  inJson,
  type Route,
  type RouteDeps,
  toActor,
} from '../../api/extension.js';
import { isAddressable, requireAllowed } from '../../ai-sdk/index.js';
import {
  OperatorAgentPath,
  OperatorAgents,
  OperatorPauseBody,
  OperatorPauseReply,
} from '../../protocol/operator.js';
import { HelixError } from '../../protocol/errors.js';

export const OPERATOR_AGENT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/operator/agents',
    id: 'listAgents',
    audits: 'none',
    summary: 'List the agents, who has paused them, and how many runs are held back',
    replies: inJson(200, 'The agents.', OperatorAgents),
    refusals: ['not_allowed'],
    handle: async ({ deps, response, caller }) => {
      await requireAllowed(deps, caller, 'read');
      const { names, paused, held } = await findAgents(deps, caller);
      const agents = names.map((name) => ({
        name,
        isPublic: isAddressable(deps.agents, name),
        isDefault: name === deps.defaultAgent,
        pauses: paused
          .filter((pause) => pause.agent === name)
          .map(({ everywhere, at, by, reason }) =>
            // Tenants must not learn who works for the installation.
            everywhere && caller.tenantId !== undefined
              ? { everywhere, at }
              : { everywhere, at, by, reason },
          ),
        held: held.filter((each) => each.agent === name).reduce((sum, { count }) => sum + count, 0),
      }));
      response.json({ agents } satisfies OperatorAgents);
    },
  }),
  definePause('pause', {
    id: 'pauseAgent',
    summary: 'Pause an agent: its runs continue, new ones wait until it is resumed',
    description: 'It is paused.',
  }),
  definePause('unpause', {
    id: 'unpauseAgent',
    summary: 'Resume an agent: what was held back starts in its order, 20 runs a second',
    description: 'It is not paused.',
  }),
];

/** Returns the agents of this server, and removed ones that are paused or have runs held back. */
async function findAgents({ agents, executor: { pauses } }: RouteDeps, { tenantId }: Identity) {
  const isShown = (of: { tenant?: string | undefined; everywhere?: boolean }): boolean =>
    of.everywhere === true || (of.tenant ?? '') === (tenantId ?? '');
  const paused = (await pauses.list()).filter(isShown);
  const held = (await pauses.held()).filter(isShown);
  const others = [...paused, ...held].map(({ agent }) => agent);
  return { names: [...new Set([...agents.getRegisteredTypes(), ...others])], paused, held };
}

const RESULTS = {
  pause: ['paused', 'already_paused'],
  unpause: ['resumed', 'not_paused'],
} as const;

function definePause(
  act: 'pause' | 'unpause',
  { id, summary, description }: { id: string; summary: string; description: string },
): Route {
  return defineRoute({
    method: 'post',
    path: `/api/operator/agents/:agent/${act}`,
    id,
    audits: 'act',
    summary,
    params: OperatorAgentPath,
    body: OperatorPauseBody,
    replies: inJson(200, description, OperatorPauseReply),
    refusals: ['not_allowed', 'agent_not_found'],
    handle: async (call) => {
      const { deps, response, caller, params, body } = call;
      await requireAllowed(deps, caller, 'pause');
      if (body.everywhere && caller.tenantId !== undefined) {
        throw new HelixError('not_allowed', 'All tenants are for callers without a tenant.');
      }
      const { names } = await findAgents(deps, caller);
      if (!names.includes(params.agent)) {
        throw new HelixError('agent_not_found', 'This server has no such agent.');
      }
      const { pauses } = deps.executor;
      const { everywhere, reason } = body;
      const scope = { agent: params.agent, everywhere, tenant: caller.tenantId };
      const request = { ...scope, ...toActor(call), reason };
      const [done, undone] = RESULTS[act];
      const isNew = await (act === 'pause' ? pauses.pause(request) : pauses.resume(request));
      response.json({ result: isNew ? done : undone } satisfies OperatorPauseReply);
    },
  });
}
