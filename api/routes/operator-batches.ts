import { createHash, randomBytes } from 'node:crypto';
import { notFound, requireAllowed, toStoredSessionId } from '../../ai-sdk/index.js';
import type { Batches, BatchState } from '../../executor/batches.js';
import {
  OperatorBatch,
  OperatorBatchBody,
  OperatorBatches,
  OperatorBatchesQuery,
  OperatorBatchPath,
  OperatorBatchPlan,
} from '../../protocol/batch.js';
import { HelixError } from '../../protocol/errors.js';
import { HEADERS } from '../../protocol/headers.js';
import { toShownSessionId } from '../../protocol/ids.js';
import { holdsRole, needsRole } from '../../protocol/roles.js';
import { toActor } from '../actor.js';
import { ACTION_OF, findBatchTargets } from '../batch-targets.js';
import type { RouteDeps } from '../deps.js';
import type { Identity } from '../identity.js';
import { mayRead } from '../operator-access.js';
import type { About } from '../record-access.js';
import { defineRoute, type Route } from './route.js';

const ID_BYTES = 12;
const BATCH = { content: { json: OperatorBatch } };

/** One act on many runs or calls of a tenant. */
export const OPERATOR_BATCH_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/operator/batches',
    id: 'startBatch',
    audits: 'act',
    summary: 'Stop, approve, deny or retry all that match a filter',
    body: OperatorBatchBody,
    replies: {
      200: {
        description: 'A dry run, or nothing to do: what it would be.',
        content: { json: OperatorBatchPlan },
      },
      202: { description: 'The batch, which has begun.', ...BATCH },
    },
    refusals: ['not_allowed', 'invalid_query'],
    entry: 'batch',
    about: async ({ deps, caller, body: { act, reason, dryRun } }) => {
      await requireAllowed(deps, caller, ACTION_OF[act]);
      return { reason, detail: { act, ...(dryRun && { dryRun }) } };
    },
    handle: async (call) => {
      const { deps, request, response, caller, body } = call;
      const { act, reason, mode, rps, dryRun } = body;
      const key = request.get(HEADERS.idempotencyKey);
      const batchId = toBatchId(caller, body, key);
      if (key !== undefined && !dryRun) {
        // It may have begun in a request that was refused in the end; now its filter matches less.
        const begun = await batchesOf(deps).read(batchId);
        if (begun !== undefined) {
          response.status(202).json(toReply(begun));
          return;
        }
      }
      const { items, shown, problems } = await findBatchTargets(deps, caller, body);
      if (dryRun || items.length === 0) {
        const plan = { total: items.length, targets: shown, problems };
        response.status(200).json(plan satisfies OperatorBatchPlan);
        return;
      }
      const { userId, tenantId, roles, personId, isEveryone } = caller;
      const { via = 'api' } = toActor(call);
      const batch = await batchesOf(deps).start({
        batchId,
        act,
        reason,
        mode,
        rps,
        items,
        actor: { userId, tenantId, roles, personId, isEveryone, via },
        refused: problems,
      });
      response.status(202).json(toReply(batch));
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/batches',
    id: 'listBatches',
    audits: 'read',
    summary: 'List the batches of the tenant; Temporal lists them up to two seconds late',
    query: OperatorBatchesQuery,
    replies: { 200: { description: 'The newest first.', content: { json: OperatorBatches } } },
    refusals: ['not_allowed'],
    about: mayRead,
    handle: async ({ deps, response, query, caller }) => {
      const batches = await batchesOf(deps).list(
        toStoredSessionId('b-', caller.tenantId),
        query.limit,
      );
      response.json({ batches: batches.map(toReply) } satisfies OperatorBatches);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/batches/:batchId',
    id: 'getBatch',
    audits: 'read',
    summary: 'Get a batch of the tenant with its counts',
    params: OperatorBatchPath,
    replies: { 200: { description: 'The batch.', ...BATCH } },
    refusals: ['not_found', 'not_allowed'],
    about: open,
    handle: ({ response, about: { batch } }) => {
      response.json(toReply(batch));
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/api/operator/batches/:batchId',
    id: 'abortBatch',
    audits: 'act',
    summary: 'End a batch after the acts that are under way; what it has done stays',
    params: OperatorBatchPath,
    replies: { 202: { description: 'The batch as it was.', ...BATCH } },
    refusals: ['not_found', 'not_allowed'],
    entry: 'batch',
    about: async (call) => {
      const opened = await open(call);
      const { userId, roles } = call.caller;
      if (opened.batch.by !== userId && !holdsRole(roles, 'operator'))
        throw needsRole(['operator']);
      return opened;
    },
    handle: async ({ deps, response, about: { batch } }) => {
      await batchesOf(deps).abort(batch.batchId);
      response.status(202).json(toReply(batch));
    },
  }),
];

/** The same for a request that is sent again with its key. */
function toBatchId(
  { tenantId, userId }: Identity,
  body: OperatorBatchBody,
  key: string | undefined,
): string {
  const id =
    key === undefined
      ? randomBytes(ID_BYTES)
      : createHash('sha256')
          .update(JSON.stringify([tenantId, userId, key, body]))
          .digest()
          .subarray(0, ID_BYTES);
  return toStoredSessionId(`b-${id.toString('hex')}`, tenantId);
}

/** @throws HelixError `not_allowed`; `not_found`, also for another tenant's */
async function open(call: {
  deps: RouteDeps;
  params: { batchId: string };
  caller: Identity;
}): Promise<About & { batch: BatchState }> {
  const { deps, params, caller } = call;
  await mayRead(call);
  const { batchId: id } = params;
  const batch = await batchesOf(deps).read(toStoredSessionId(id, caller.tenantId));
  if (batch === undefined) throw notFound();
  return { batch, detail: { batch: id } };
}

/** @throws HelixError `unavailable` */
function batchesOf({ executor }: RouteDeps): Batches {
  if (executor.batches !== undefined) return executor.batches;
  throw new HelixError('unavailable', 'This server has no batches.');
}

function toReply({ batchId, ...batch }: BatchState): OperatorBatch {
  return { id: toShownSessionId(batchId), ...batch };
}
