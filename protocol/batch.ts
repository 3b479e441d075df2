import { z } from 'zod';
import { LIMITS } from './limits.js';
import { RunFilter } from './operator.js';

/** Requests and replies of `/api/operator/batches`. Times in replies are ms since the epoch. */

const ms = z.number();
const text = z.string().min(1).max(LIMITS.idChars);

/** Which runs or calls; an item has to match all that is given, and something has to be given. */
const BatchFilter = RunFilter.extend({
  query: z.string().trim().min(1).max(LIMITS.runQueryChars).optional(),
  /** Only calls of this tool; for `approve` and `deny`. */
  tool: text.optional(),
})
  .strict()
  .refine((filter) => Object.keys(filter).length > 0, {
    message: 'an empty filter would match everything',
  });

/** An item by name, as a dry run lists it. */
const BatchTarget = z.object({
  runId: z
    .string()
    .min(1)
    .max(3 * LIMITS.idChars),
  toolCallId: text.optional(),
  /** Hash of the input that was shown. A call with approvers is approved and denied only by it. */
  inputHash: text.optional(),
});

/** `POST /api/operator/batches`: one act on all that match a filter, or on what is named. */
export const OperatorBatchBody = z
  .object({
    act: z.enum(['stop', 'approve', 'deny', 'retry']),
    filter: BatchFilter.optional(),
    targets: z.array(BatchTarget).min(1).max(LIMITS.batchItems).optional(),
    reason: z.string().min(1).max(LIMITS.errorTextBytes).optional(),
    /** For `stop`. */
    mode: z.enum(['interrupt', 'abort']).optional(),
    /** Acts a second. */
    rps: z.number().int().min(1).max(LIMITS.batchRps.most).default(LIMITS.batchRps.usual),
    /** Only says which items it would be. */
    dryRun: z.boolean().default(false),
  })
  .refine(({ filter, targets }) => (filter === undefined) !== (targets === undefined), {
    message: 'give filter or targets',
  })
  .refine(({ act, reason, dryRun }) => act !== 'deny' || dryRun || reason !== undefined, {
    message: 'a denial needs a reason',
    path: ['reason'],
  })
  .refine(({ act, filter }) => filter?.tool === undefined || act === 'approve' || act === 'deny', {
    message: 'only calls have a tool',
    path: ['filter', 'tool'],
  });
export type OperatorBatchBody = z.infer<typeof OperatorBatchBody>;

const BatchProblem = z.object({ target: z.string(), code: z.string() });

const counts = {
  total: z.number(),
  /** Items on which the batch has acted. */
  done: z.number(),
  /** Items with which nothing was to be done any more. */
  skipped: z.number(),
  /** Items of which the act was refused, and the first of them. */
  failed: z.number(),
  problems: z.array(BatchProblem),
};

/** A batch. */
export const OperatorBatch = z
  .object({
    id: z.string(),
    act: OperatorBatchBody.shape.act,
    status: z.enum(['running', 'completed', 'aborted', 'failed']),
    ...counts,
    /** Who began it. Absent once that person is erased, and a week after the batch. */
    by: z.string().optional(),
    startedAt: ms,
    endedAt: ms.optional(),
  })
  .meta({ id: 'OperatorBatch' });
export type OperatorBatch = z.infer<typeof OperatorBatch>;

/** What a batch would act on. */
export const OperatorBatchPlan = z
  .object({
    total: z.number(),
    targets: z.array(
      z.object({
        runId: z.string(),
        toolCallId: z.string().optional(),
        toolName: z.string().optional(),
        /** The beginning of the input's JSON, and the hash of all of it. */
        input: z.string().optional(),
        inputHash: z.string().optional(),
        sessionId: z.string(),
        agent: z.string(),
        owner: z.string(),
        status: z.string(),
      }),
    ),
    /** Items that match, of which the act is refused to this caller. */
    problems: z.array(BatchProblem),
  })
  .meta({ id: 'OperatorBatchPlan' });
export type OperatorBatchPlan = z.infer<typeof OperatorBatchPlan>;

/** `GET /api/operator/batches`: the newest first. */
export const OperatorBatchesQuery = z.object({
  limit: z.coerce.number().int().min(1).max(LIMITS.operatorPage).default(20),
});
export const OperatorBatches = z.object({ batches: z.array(OperatorBatch) });
export type OperatorBatches = z.infer<typeof OperatorBatches>;

export const OperatorBatchPath = z.object({
  batchId: z.string().regex(/^b-[A-Za-z0-9_-]{1,64}$/),
});
