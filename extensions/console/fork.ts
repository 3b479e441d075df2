import { randomUUID } from 'node:crypto';
import {
  defineRoute,
  inJson,
  nameOfRequest,
  openRunForOperator,
  type Route,
  SESSION_AND_RUN,
  toActor,
} from '../../api/extension.js';
import { findSession, requireAddressable } from '../../ai-sdk/index.js';
import { HelixError } from '../../protocol/errors.js';
import { HEADERS } from '../../protocol/wire-names.js';
import { sessionOfRun, toShownSessionId } from '../../protocol/ids.js';
import { OperatorForkBody, OperatorForkReply, OperatorRunPath } from '../../protocol/operator.js';

/** Copies a conversation and continues a run in the copy; the original stays as it is. */
export const OPERATOR_FORK_ROUTE: Route = defineRoute({
  method: 'post',
  path: '/api/operator/runs/:runId/fork',
  id: 'forkRun',
  audits: 'act',
  summary: 'Copy the conversation up to a step of a run, and continue the copy from there',
  params: OperatorRunPath,
  body: OperatorForkBody,
  replies: inJson(
    201,
    'The copy, of the same owner, and the run that continues in it.',
    OperatorForkReply,
    SESSION_AND_RUN,
  ),
  refusals: [
    'not_found',
    'not_allowed',
    'not_resumable',
    'agent_not_found',
    'quota_exceeded',
    'checkpoint_not_found',
    'nothing_to_do',
    'session_exists',
    'budget_exceeded',
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
    const key = await nameOfRequest(deps, call.request);
    // A repeated request must name the same copy.
    const { step, reason, sessionId = `s-${key ?? randomUUID()}` } = body;
    const { storedId: newSessionId } = await findSession(deps.stateStore, sessionId, caller);
    const { sessionId: from } = record;
    const input = { sessionId: from, runId, step, newSessionId, key, reason, ...toActor(call) };
    const copy = await deps.countRead((meter) => deps.executor.fork({ ...input, meter }));
    const shown = toShownSessionId(copy.sessionId);
    response
      .status(201)
      .set(HEADERS.sessionId, shown)
      .set(HEADERS.runId, copy.runId)
      .json({ sessionId: shown, runId: copy.runId } satisfies OperatorForkReply);
  },
});
