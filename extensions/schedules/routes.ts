import type { Response } from 'express';
import {
  isOwner,
  notFound,
  requireAddressable,
  requireAllowed,
  toStoredSessionId,
  type Action,
} from '../../ai-sdk/index.js';
import {
  type About,
  defineRoute,
  inJson,
  type Identity,
  mayRead,
  type Route,
  type RouteDeps,
} from '../../api/extension.js';
import type { RunsHost } from '../../runs/extension.js';
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
import type { DescribedSchedule, Schedules } from './schedules.js';

const one = {
  params: OperatorSchedulePath,
  refusals: ['not_found', 'not_allowed'],
} as const;

export type OpenSchedules = (
  temporal: RunsHost['temporal'],
) => Promise<Schedules | undefined> | Schedules | undefined;

/** Routes for the schedules of a tenant. */
export function toScheduleRoutes(openSchedules: OpenSchedules): readonly Route[] {
  /** @throws HelixError `unavailable` */
  async function schedulesOf({ executor }: RouteDeps): Promise<Schedules> {
    const schedules = await openSchedules(executor.temporal);
    if (schedules !== undefined) return schedules;
    throw new HelixError('unavailable', 'This server has no schedules.');
  }

  /** @throws HelixError `not_allowed`, `not_found` */
  async function open(
    { deps, params, caller }: { deps: RouteDeps; params: { name: string }; caller: Identity },
    action: Action,
    reason?: string,
  ): Promise<
    About & { schedules: Schedules; tenant: string | undefined; found: DescribedSchedule }
  > {
    const { tenantId: tenant } = caller;
    await requireAllowed(deps, caller, action);
    const schedules = await schedulesOf(deps);
    const found = await schedules.read(tenant, params.name);
    if (found === undefined) throw new HelixError('not_found', 'There is no such schedule.');
    const detail = { schedule: found.name, agent: found.agent };
    return { schedules, tenant, found, reason, detail };
  }
  return [
    defineRoute({
      method: 'post',
      path: '/api/operator/schedules',
      id: 'createSchedule',
      audits: 'act',
      summary: 'Create a schedule: runs of an agent that begin at set times',
      body: OperatorScheduleBody,
      replies: inJson(
        201,
        'The schedule; also if there is the same one already.',
        OperatorSchedule,
      ),
      refusals: [
        'not_allowed',
        'not_found',
        'agent_not_found',
        'schedule_exists',
        'quota_exceeded',
      ],
      entry: 'schedule',
      about: async ({ deps, caller, body }) => {
        const { owner = caller.userId, sessionId, agent, name } = body;
        await requireAllowed(deps, caller, 'schedule');
        requireAddressable(deps.agents, agent);
        if (sessionId !== undefined) await requireOf(deps, caller, { sessionId, owner });
        return { schedules: await schedulesOf(deps), detail: { schedule: name, agent } };
      },
      handle: async ({ response, caller, body, about: { schedules } }) => {
        const { owner = caller.userId } = body;
        const { tenantId: tenant, userId: by, personId } = caller;
        const created = await schedules.create({ ...body, owner, tenant, by, personId });
        response.status(201).json(toReply(created));
      },
    }),
    defineRoute({
      method: 'get',
      path: '/api/operator/schedules',
      id: 'listSchedules',
      audits: 'read',
      summary: 'List the schedules of the tenant; Temporal lists them up to two seconds late',
      replies: inJson(200, 'By name.', OperatorSchedules),
      refusals: ['not_allowed'],
      about: mayRead,
      handle: async ({ deps, response, caller }) => {
        const schedules = await (await schedulesOf(deps)).list(caller.tenantId);
        response.json({ schedules: schedules.map(toReply) } satisfies OperatorSchedules);
      },
    }),
    defineRoute({
      ...one,
      method: 'get',
      path: '/api/operator/schedules/:name',
      id: 'getSchedule',
      audits: 'read',
      summary: 'Get a schedule of the tenant with its newest firings',
      replies: inJson(200, 'The schedule.', OperatorScheduleDetail),
      about: (call) => open(call, 'read'),
      handle: ({ response, about: { found } }) => {
        response.json(toReply(found));
      },
    }),
    defineRoute({
      ...one,
      method: 'post',
      path: '/api/operator/schedules/:name/pause',
      id: 'pauseSchedule',
      audits: 'act',
      summary: 'Pause a schedule: runs that it has begun continue',
      body: OperatorScheduleActBody,
      replies: inJson(200, 'It is paused.', OperatorScheduleReply),
      entry: 'schedule',
      about: (call) => open(call, 'schedule', call.body.reason),
      handle: async ({ response, body, about: { schedules, tenant, found } }) => {
        await schedules.pause(tenant, found.name, body.reason);
        reply(response, 'paused');
      },
    }),
    defineRoute({
      ...one,
      method: 'post',
      path: '/api/operator/schedules/:name/resume',
      id: 'resumeSchedule',
      audits: 'act',
      summary: 'Resume a schedule: what it has missed is not made up for',
      body: OperatorScheduleActBody,
      replies: inJson(200, 'It is not paused.', OperatorScheduleReply),
      entry: 'schedule',
      about: (call) => open(call, 'schedule', call.body.reason),
      handle: async ({ response, body, about: { schedules, tenant, found } }) => {
        await schedules.resume(tenant, found.name, body.reason);
        reply(response, 'resumed');
      },
    }),
    defineRoute({
      ...one,
      method: 'post',
      path: '/api/operator/schedules/:name/trigger',
      id: 'triggerSchedule',
      audits: 'act',
      summary: 'Fire a schedule now, under its overlap policy, also while it is paused',
      replies: inJson(202, 'It fires.', OperatorScheduleReply),
      entry: 'schedule',
      about: (call) => open(call, 'schedule'),
      handle: async ({ response, caller, about: { schedules, tenant, found } }) => {
        const { userId: by, personId } = caller;
        await schedules.trigger(tenant, found.name, { by, personId });
        reply(response.status(202), 'triggered');
      },
    }),
    defineRoute({
      ...one,
      method: 'delete',
      path: '/api/operator/schedules/:name',
      id: 'deleteSchedule',
      audits: 'act',
      summary: 'Delete a schedule: runs that it has begun continue',
      replies: inJson(200, 'It is deleted.', OperatorScheduleReply),
      entry: 'schedule',
      about: (call) => open(call, 'schedule'),
      handle: async ({ response, about: { schedules, tenant, found } }) => {
        await schedules.delete(tenant, found.name);
        reply(response, 'deleted');
      },
    }),
  ];
}

/** Requires that an existing conversation belongs to the owner and that the caller may act on it. */
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

/** Leaves the tenant out: it is always the caller's. */
function toReply<State extends { tenant?: unknown }>({
  tenant: _tenant,
  ...rest
}: State): Omit<State, 'tenant'> {
  return rest;
}

function reply(response: Response, result: OperatorScheduleReply['result']): void {
  response.json({ result } satisfies OperatorScheduleReply);
}
