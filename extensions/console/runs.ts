import { z } from 'zod';
import {
  type Call,
  defineRoute,
  mayRead,
  mayReadRun,
  openRunForOperator,
  resumeRun,
  retryRun,
  type Route,
  type RouteDeps,
  sendRun,
  stopRun,
} from '../../api/extension.js';
import { notFound } from '../../ai-sdk/index.js';
import { HelixError } from '../../protocol/errors.js';
import { StopBody } from '../../protocol/http.js';
import {
  OperatorResumeBody,
  OperatorRetryBody,
  OperatorRunCount,
  OperatorRunCountQuery,
  OperatorRunDetail,
  OperatorRunPath,
  OperatorRuns,
  OperatorRunsQuery,
} from '../../protocol/operator.js';
import { RetryReply, StopReply } from '../../protocol/replies.js';
import { RUN_STATUSES } from '../../protocol/run.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { readRunDetail, toOperatorRun } from './run.js';
import { createRunList, type RunFilter, type RunList, type RunPage } from './run-list.js';

const ofRun = { method: 'post', params: OperatorRunPath } as const;
const REFUSED = ['not_found', 'not_allowed', 'stale_run'] as const;
const BEGUN = { 202: { description: 'The run that continues.', content: { json: RetryReply } } };

/** Operators' routes of the tenant's runs. */
export const OPERATOR_RUN_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/operator/runs',
    id: 'listRuns',
    audits: 'read',
    summary: 'List the runs of the tenant; Temporal lists them up to two seconds late',
    query: OperatorRunsQuery,
    replies: { 200: { description: 'A page, newest first.', content: { json: OperatorRuns } } },
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
    replies: { 200: { description: 'The counts.', content: { json: OperatorRunCount } } },
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
    replies: { 200: { description: 'The run.', content: { json: OperatorRunDetail } } },
    refusals: ['not_found'],
    about: mayReadRun,
    handle: async ({ deps, response, caller, params: { runId }, about: record }) => {
      const detail = await readRunDetail(deps, caller, record, runId);
      if (detail === undefined) throw notFound();
      response.json(detail satisfies OperatorRunDetail);
    },
  }),
  defineRoute({
    ...ofRun,
    path: '/api/operator/runs/:runId/stop',
    id: 'stopRun',
    audits: 'act',
    summary: 'Stop a run of the tenant; its partial reply is kept',
    body: StopBody,
    replies: { 202: { description: 'The effect of the stop.', content: { json: StopReply } } },
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

/** One page looks for runs of this many conversations. */
const CONVERSATIONS = 20;

const Place = z.tuple([z.string(), z.string()]);

interface Wanted extends RunFilter {
  /** Only runs of this user, by the newest change of their conversation. */
  owner?: string | undefined;
}

/**
 * Lists runs, newest first. Temporal does not know owners: a list by owner asks for the runs of a
 * few conversations at a time, so a page may be short or empty and still have a cursor.
 *
 * @throws HelixError `invalid_query`, `validation_error` for a cursor of another list
 */
export async function listRuns(
  { list }: Pick<RunList, 'list'>,
  owners: RouteDeps['stateStore']['owners'],
  { owner, ...filter }: Wanted,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<RunPage> {
  if (owner === undefined) return list(filter, { limit, cursor });
  const [from, inner] = cursor === undefined ? [] : parsePlace(cursor);
  const at = from === undefined || from === '' ? {} : { cursor: from };
  const page = await owners.page({ owner, tenant: filter.tenant }, { limit: CONVERSATIONS, ...at });
  const sessions = page.conversations.map(({ sessionId }) => sessionId);
  const found: RunPage =
    sessions.length === 0
      ? { runs: [] }
      : await list({ ...filter, sessions }, { limit, cursor: inner === '' ? undefined : inner });
  if (found.cursor !== undefined) {
    return { runs: found.runs, cursor: formatPlace([from ?? '', found.cursor]) };
  }
  if (page.cursor !== undefined) return { ...found, cursor: formatPlace([page.cursor, '']) };
  return found;
}

function formatPlace(place: z.infer<typeof Place>): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function parsePlace(cursor: string): z.infer<typeof Place> {
  try {
    return Place.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch (error) {
    throw new HelixError('validation_error', 'The cursor is of another list.', { cause: error });
  }
}
