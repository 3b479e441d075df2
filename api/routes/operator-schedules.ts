import {
  isOwner,
  notFound,
  requireAddressable,
  requireAllowed,
  toStoredSessionId,
} from '../../ai-sdk/index.js';
import type { DescribedSchedule } from '../../executor/schedule-state.js';
import type { Schedules } from '../../executor/schedules.js';
import { HelixError } from '../../protocol/errors.js';
import {
  OperatorSchedule,
  OperatorScheduleActBody,
  OperatorScheduleBody,
  OperatorScheduleDetail,
  OperatorSchedulePath,
  OperatorScheduleReply,
  OperatorSchedules,
} from '../../protocol/schedules.js';
import { toAct } from '../../stores/record/acts.js';
import { logEntries } from '../../stores/record/relay-after-acts.js';
import { toActor } from '../actor.js';
import type { RouteDeps } from '../deps.js';
import type { Identity } from '../identity.js';
import { defineRoute, type Call, type Route } from './route.js';

const one = {
  params: OperatorSchedulePath,
  headers: ['via'],
  refusals: ['not_found', 'not_allowed'],
} as const;
const REPLY = { content: { json: OperatorScheduleReply } };

/** Runs of a tenant that begin at set times. */
export const OPERATOR_SCHEDULE_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/operator/schedules',
    id: 'createSchedule',
    summary: 'Create a schedule: runs of an agent that begin at set times',
    body: OperatorScheduleBody,
    headers: ['via'],
    replies: {
      201: {
        description: 'The schedule; also if there is the same one already.',
        content: { json: OperatorSchedule },
      },
    },
    refusals: ['not_allowed', 'not_found', 'agent_not_found', 'schedule_exists', 'quota_exceeded'],
    handle: async (call) => {
      const { deps, response, caller, body } = call;
      const { owner = caller.userId, sessionId, agent, name } = body;
      const { tenantId: tenant } = caller;
      await requireAllowed(deps, caller, 'schedule');
      requireAddressable(deps.agents, agent);
      if (sessionId !== undefined) await requireOf(deps, caller, { sessionId, owner });
      const schedules = schedulesOf(deps);
      await note(call, 'create', { name, agent });
      const created = await schedules.create({ ...body, owner, tenant, by: caller.userId });
      response.status(201).json(toReply(created));
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/schedules',
    id: 'listSchedules',
    summary: 'List the schedules of the tenant; Temporal lists them up to two seconds late',
    replies: { 200: { description: 'By name.', content: { json: OperatorSchedules } } },
    refusals: ['not_allowed'],
    handle: async ({ deps, response, caller }) => {
      await requireAllowed(deps, caller, 'read');
      const schedules = await schedulesOf(deps).list(caller.tenantId);
      response.json({ schedules: schedules.map(toReply) } satisfies OperatorSchedules);
    },
  }),
  defineRoute({
    ...one,
    method: 'get',
    path: '/api/operator/schedules/:name',
    id: 'getSchedule',
    summary: 'Get a schedule of the tenant with its newest firings',
    replies: { 200: { description: 'The schedule.', content: { json: OperatorScheduleDetail } } },
    handle: async ({ deps, response, params, caller }) => {
      await requireAllowed(deps, caller, 'read');
      const found = await schedulesOf(deps).read(caller.tenantId, params.name);
      if (found === undefined) throw notFound();
      response.json(toReply(found));
    },
  }),
  defineRoute({
    ...one,
    method: 'post',
    path: '/api/operator/schedules/:name/pause',
    id: 'pauseSchedule',
    summary: 'Pause a schedule: runs that it has begun continue',
    body: OperatorScheduleActBody,
    replies: { 200: { description: 'It is paused.', ...REPLY } },
    handle: async (call) => {
      const { schedules, tenant, name } = await open(call, 'pause', call.body.reason);
      await schedules.pause(tenant, name, call.body.reason);
      reply(call, 'paused');
    },
  }),
  defineRoute({
    ...one,
    method: 'post',
    path: '/api/operator/schedules/:name/resume',
    id: 'resumeSchedule',
    summary: 'Resume a schedule: what it has missed is not made up for',
    body: OperatorScheduleActBody,
    replies: { 200: { description: 'It is not paused.', ...REPLY } },
    handle: async (call) => {
      const { schedules, tenant, name } = await open(call, 'resume', call.body.reason);
      await schedules.resume(tenant, name, call.body.reason);
      reply(call, 'resumed');
    },
  }),
  defineRoute({
    ...one,
    method: 'post',
    path: '/api/operator/schedules/:name/trigger',
    id: 'triggerSchedule',
    summary: 'Fire a schedule now, under its overlap policy, also while it is paused',
    replies: { 202: { description: 'It fires.', ...REPLY } },
    handle: async (call) => {
      const { schedules, tenant, name } = await open(call, 'trigger');
      await schedules.trigger(tenant, name, call.caller.userId);
      call.response.status(202);
      reply(call, 'triggered');
    },
  }),
  defineRoute({
    ...one,
    method: 'delete',
    path: '/api/operator/schedules/:name',
    id: 'deleteSchedule',
    summary: 'Delete a schedule: runs that it has begun continue',
    replies: { 200: { description: 'It is deleted.', ...REPLY } },
    handle: async (call) => {
      const { schedules, tenant, name } = await open(call, 'delete');
      await schedules.delete(tenant, name);
      reply(call, 'deleted');
    },
  }),
];

type Asked = Pick<
  Call<'caller', typeof OperatorSchedulePath, undefined, undefined>,
  'deps' | 'request' | 'response' | 'params' | 'caller'
>;
type Change = 'create' | 'pause' | 'resume' | 'trigger' | 'delete';

/** Notes the act before it is carried out. @throws HelixError `not_allowed`, `not_found` */
async function open(
  call: Asked,
  change: Change,
  reason?: string,
): Promise<{ schedules: Schedules; tenant: string | undefined; name: string }> {
  const { deps, caller, params } = call;
  const { tenantId: tenant } = caller;
  await requireAllowed(deps, caller, 'schedule');
  const schedules = schedulesOf(deps);
  const found = await schedules.read(tenant, params.name);
  if (found === undefined) throw notFound();
  await note(call, change, found, reason);
  return { schedules, tenant, name: found.name };
}

async function note(
  call: Pick<Asked, 'deps' | 'request' | 'caller'>,
  change: Change,
  { name, agent }: Pick<DescribedSchedule, 'name' | 'agent'>,
  reason?: string,
): Promise<void> {
  const { deps, caller } = call;
  const detail = { change, schedule: name, agent };
  const act = toAct('schedule', toActor(call), { tenant: caller.tenantId, reason, detail });
  logEntries(deps.logger, await deps.stateStore.audit.record(act, {}));
}

/** A conversation that exists has to be the owner's, and the caller's to act on. */
async function requireOf(
  deps: RouteDeps,
  caller: Identity,
  { sessionId, owner }: { sessionId: string; owner: string },
): Promise<void> {
  const { tenantId } = caller;
  const record = await deps.stateStore.sessions.read(toStoredSessionId(sessionId, tenantId));
  if (record === undefined) return;
  if (!isOwner(record, { ...caller, userId: owner })) throw notFound();
  await requireAllowed(deps, caller, 'schedule', record);
}

/** @throws HelixError `unavailable` */
function schedulesOf({ executor }: RouteDeps): Schedules {
  if (executor.schedules !== undefined) return executor.schedules;
  throw new HelixError('unavailable', 'This server has no schedules.');
}

/** Callers have one tenant. */
function toReply<State extends { tenant?: unknown }>({
  tenant: _tenant,
  ...rest
}: State): Omit<State, 'tenant'> {
  return rest;
}

function reply({ response }: Asked, result: OperatorScheduleReply['result']): void {
  response.json({ result } satisfies OperatorScheduleReply);
}
