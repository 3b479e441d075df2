import { randomUUID } from 'node:crypto';
import {
  type Call,
  defineRoute,
  inJson,
  mayRead,
  mayReadRun,
  nameOfRequest,
  openRunForOperator,
  resumeRun,
  retryRun,
  type Route,
  type RouteDeps,
  sendRun,
  SESSION_AND_RUN,
  stopRun,
  toActor,
} from '../../api/extension.js';
import { findSession, notFound, requireAddressable } from '../../ai-sdk/index.js';
import { HelixError } from '../../protocol/errors.js';
import { HEADERS, sessionOfRun, toShownSessionId } from '../../protocol/ids.js';
import { StopBody } from '../../protocol/http.js';
import {
  OperatorEvents,
  OperatorEventsQuery,
  OperatorForkBody,
  OperatorForkReply,
  OperatorResumeBody,
  OperatorRetryBody,
  OperatorRunCount,
  OperatorRunCountQuery,
  OperatorRunDetail,
  OperatorRunPath,
  OperatorRuns,
  OperatorRunsQuery,
  OperatorStep,
  OperatorStepPath,
} from '../../protocol/operator.js';
import { RetryReply, StopReply } from '../../protocol/replies.js';
import { RUN_STATUSES } from '../../protocol/run.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { readEvents, readRunDetail, readStep, toOperatorRun } from './run-detail.js';
import { createRunList, listRuns } from './run-list.js';

const ofRun = { method: 'post', params: OperatorRunPath } as const;
const REFUSED = ['not_found', 'not_allowed', 'stale_run'] as const;
const BEGUN = { 202: { description: 'The run that continues.', content: { json: RetryReply } } };

export const OPERATOR_RUN_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/operator/runs',
    id: 'listRuns',
    audits: 'read',
    summary: 'List the runs of the tenant; Temporal lists them up to two seconds late',
    query: OperatorRunsQuery,
    replies: inJson(200, 'A page, newest first.', OperatorRuns),
    refusals: ['not_allowed', 'invalid_query'],
    about: async (call) => ({ ...(await mayRead(call)), person: call.query.owner }),
    handle: async ({ deps, response, query: { limit, cursor, ...filter }, caller }) => {
      const page = { limit, cursor };
      const { owners } = deps.stateStore;
      const list = createRunList(deps.executor.temporal);
      const of = { ...filter, tenant: caller.tenantId };
      const found = await listRuns(list, owners, of, page);
      const runs = await Promise.all(found.runs.map((run) => toOperatorRun(deps, caller, run)));
      response.json({ runs: runs.flat(), cursor: found.cursor } satisfies OperatorRuns);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/runs/count',
    id: 'countRuns',
    audits: 'read',
    summary: 'Count the runs of the tenant by status, agent or tenant',
    query: OperatorRunCountQuery,
    replies: inJson(200, 'The counts.', OperatorRunCount),
    refusals: ['not_allowed', 'invalid_query'],
    about: mayRead,
    handle: async ({ deps, response, query: { groupBy, ...filter }, caller }) => {
      const of = { ...filter, tenant: caller.tenantId };
      const { count } = createRunList(deps.executor.temporal);
      if (groupBy === 'tenant') {
        const total = await count(of);
        const groups = total === 0 ? [] : [{ value: caller.tenantId ?? '', count: total }];
        response.json({ total, groups } satisfies OperatorRunCount);
        return;
      }
      const wanted: readonly string[] =
        groupBy === 'status' ? RUN_STATUSES : deps.agents.getRegisteredTypes();
      const only = filter[groupBy];
      const values = only === undefined ? wanted : wanted.filter((value) => value === only);
      const [total, ...counts] = await Promise.all([
        count(of),
        ...values.map((value) => count({ ...of, [groupBy]: value })),
      ]);
      const groups = values.flatMap((value, at) => {
        const found = counts[at] ?? 0;
        return found === 0 ? [] : [{ value, count: found }];
      });
      response.json({ total, groups } satisfies OperatorRunCount);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/runs/:runId',
    id: 'getRun',
    audits: 'read',
    summary: 'Get a run of the tenant: its record, steps and calls',
    params: OperatorRunPath,
    replies: inJson(200, 'The run.', OperatorRunDetail),
    refusals: ['not_found'],
    about: mayReadRun,
    handle: async ({ deps, response, caller, params: { runId }, about: record }) => {
      const detail = await readRunDetail(deps, caller, record, runId);
      if (detail === undefined) throw notFound();
      response.json(detail satisfies OperatorRunDetail);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/runs/:runId/steps/:step',
    id: 'getRunStep',
    audits: 'read',
    summary: 'Get what a step of a run wrote, and the inputs and outputs of its calls',
    params: OperatorStepPath,
    replies: inJson(200, 'The step.', OperatorStep),
    refusals: ['not_found'],
    entry: 'read',
    about: mayReadRun,
    handle: async ({ deps, response, params }) => {
      const step = await readStep(deps, params.runId, params.step);
      if (step === undefined) throw notFound();
      response.json(step satisfies OperatorStep);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/runs/:runId/events',
    id: 'listRunEvents',
    audits: 'read',
    summary: "List the log entries of a run's turn",
    params: OperatorRunPath,
    query: OperatorEventsQuery,
    replies: inJson(200, 'A page, oldest first.', OperatorEvents),
    refusals: ['not_found'],
    entry: 'read',
    about: mayReadRun,
    handle: async ({ deps, response, query, params: { runId }, about: record }) => {
      const page = await readEvents(deps, record, runId, query);
      if (page === undefined) throw notFound();
      response.json(page satisfies OperatorEvents);
    },
  }),
  defineRoute({
    ...ofRun,
    path: '/api/operator/runs/:runId/stop',
    id: 'stopRun',
    audits: 'act',
    summary: 'Stop a run of the tenant; its partial reply is kept',
    body: StopBody,
    replies: inJson(202, 'The effect of the stop.', StopReply),
    refusals: REFUSED,
    handle: async (call) => {
      const { runId } = call.params;
      await stopRun(call, await openNewest(call, 'stop'), { ...call.body, runId });
    },
  }),
  defineRoute({
    ...ofRun,
    path: '/api/operator/runs/:runId/resume',
    id: 'resumeRun',
    audits: 'act',
    summary: 'Continue a run that was interrupted; an active one is left alone',
    body: OperatorResumeBody,
    replies: BEGUN,
    refusals: [...REFUSED, 'not_resumable', 'agent_not_found', 'quota_exceeded'],
    handle: async (call) => {
      const { runId } = call.params;
      const { reason } = call.body;
      const from = { mode: 'with_confirmation', runId, reason } as const;
      sendRun(call, await resumeRun(call, await openNewest(call, 'resume'), from));
      noteRerun(call.deps, runId);
    },
  }),
  defineRoute({
    ...ofRun,
    path: '/api/operator/runs/:runId/retry',
    id: 'retryRun',
    audits: 'act',
    summary: "Repeat a run's turn, or continue after a checkpoint; what came later is dropped",
    body: OperatorRetryBody,
    replies: BEGUN,
    refusals: [
      ...REFUSED,
      'agent_already_running',
      'agent_not_found',
      'not_resumable',
      'quota_exceeded',
      'message_not_found',
      'checkpoint_not_found',
      'nothing_to_do',
    ],
    handle: async (call) => {
      sendRun(call, await retryRun(call, await openNewest(call, 'retry'), call.body));
      noteRerun(call.deps, call.params.runId);
    },
  }),
  defineRoute({
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
  }),
];

type RunCall = Call<'caller', typeof OperatorRunPath, never, never>;

/** @throws HelixError `stale_run` for an earlier run of the conversation, and for a sub-agent's */
async function openNewest(
  { deps, caller, params }: Pick<RunCall, 'deps' | 'caller' | 'params'>,
  action: 'stop' | 'resume' | 'retry',
): Promise<SessionRecord> {
  const { runId } = params;
  const record = await openRunForOperator(deps, caller, action, runId);
  if (record.runId === runId) return record;
  throw new HelixError('stale_run', 'Another run is the newest of this conversation.');
}

/** The actor and the reason stay in the audit entry: no erasure reaches a log. */
function noteRerun({ logger }: RouteDeps, runId: string): void {
  logger.info({ runId }, 'a run was continued or repeated');
}
