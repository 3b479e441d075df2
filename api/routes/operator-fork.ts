import { randomUUID } from 'node:crypto';
import { requireAddressable } from '../../ai-sdk/index.js';
import { HelixError } from '../../protocol/errors.js';
import { HEADERS } from '../../protocol/headers.js';
import { sessionOfRun, toShownSessionId } from '../../protocol/ids.js';
import { OperatorForkBody, OperatorForkReply, OperatorRunPath } from '../../protocol/operator.js';
import { toActor } from '../actor.js';
import { openRunForOperator } from '../operator-access.js';
import { findFreeId } from './reruns.js';
import { defineRoute, SESSION_AND_RUN, type Route } from './route.js';

/** A run that is continued elsewhere: the conversation it belongs to stays as it is. */
export const OPERATOR_FORK_ROUTE: Route = defineRoute({
  method: 'post',
  path: '/api/operator/runs/:runId/fork',
  id: 'forkRun',
  summary: 'Copy the conversation up to a step of a run, and continue the copy from there',
  params: OperatorRunPath,
  body: OperatorForkBody,
  headers: ['via'],
  replies: {
    201: {
      description: 'The copy, of the same owner, and the run that continues in it.',
      content: { json: OperatorForkReply },
      headers: SESSION_AND_RUN,
    },
  },
  refusals: [
    ...([
      'not_found',
      'not_allowed',
      'not_resumable',
      'agent_not_found',
      'quota_exceeded',
    ] as const),
    ...(['checkpoint_not_found', 'nothing_to_do', 'session_exists', 'budget_exceeded'] as const),
  ],
  handle: async (call) => {
    const { deps, response, caller, params, body } = call;
    const { runId } = params;
    const record = await openRunForOperator(deps, caller, 'retry', runId);
    if (sessionOfRun(runId) !== record.sessionId) {
      throw new HelixError(
        'not_resumable',
        "A sub-agent's run continues with its conversation only.",
      );
    }
    requireAddressable(deps.agents, record.agent);
    const { step, reason, sessionId = `s-${randomUUID()}` } = body;
    const newSessionId = await findFreeId(deps, sessionId, caller);
    const actor = toActor(call);
    const { executor } = deps;
    await executor.branch({
      ...{ sessionId: record.sessionId, newSessionId, fork: { runId, step } },
      ...actor,
    });
    const mode = 'with_confirmation';
    const copy = { sessionId: newSessionId, mode, reason, ...actor } as const;
    const resumed = await executor.resume(copy).catch(async (error: unknown) => {
      // The owner would find a copy that no run continues, and the id would be taken for a repeat.
      await executor.deleteSession(newSessionId, actor).catch((err: unknown) => {
        deps.logger.warn({ err, sessionId: newSessionId }, 'a copy without a run is left');
      });
      throw error;
    });
    const begun = resumed.kind === 'resumed' ? resumed.run.runId : resumed.runId;
    const shown = toShownSessionId(newSessionId);
    response
      .status(201)
      .set(HEADERS.sessionId, shown)
      .set(HEADERS.runId, begun)
      .json({ sessionId: shown, runId: begun } satisfies OperatorForkReply);
  },
});
