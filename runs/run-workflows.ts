import {
  ActivityNotFoundError,
  WorkflowExecutionAlreadyStartedError,
  type Client,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { runOfWorkflow, workflowIdOf } from '../protocol/ids.js';
import type { Hint, RunInput } from '../protocol/run.js';
import { fairnessKeyOf, SIGNALS, UPDATES, WORKFLOW_TYPE } from '../protocol/temporal.js';
import { TIMES } from '../protocol/limits.js';
import { withTimeout } from '../protocol/time.js';
import type { RequestTracer } from '../protocol/telemetry.js';
import type { Store } from '../store/contract/store.js';
import { eraseWorkflows, type ErasedWorkflows, type RunsOfSession } from './erase-workflows.js';
import { isRefusedForGood, quote, withinDeadline } from './temporal-calls.js';
import { toAttributes, type RunLabels } from './search-attributes.js';
import {
  NOTHING,
  toLook,
  type StartedAttempt,
  type WorkflowLook,
  type WorkflowState,
} from './workflow-look.js';

/** The runs' workflows: starts, signals and reads them. Every call is bounded in time. */
export interface RunWorkflows {
  /** Namespace and task queue of the workflows. */
  readonly fleet: string;
  readonly namespace: string;
  /** Starts a workflow; harmless if it was started before. */
  start: (input: RunInput, summary: RunLabels) => Promise<void>;
  /** Lets a run read its record again; harmless if its workflow has closed or never started. */
  wake: (runId: string, hint?: Omit<Hint, 'traceparent'>) => Promise<void>;
  state: (runId: string) => Promise<WorkflowState>;
  look: (runId: string) => Promise<WorkflowLook>;
  /** Makes Temporal begin another attempt; harmless if this one has ended. */
  retry: (attempt: StartedAttempt) => Promise<void>;
  /** Lists runs whose workflows closed without completing since `since`, ms since the epoch. */
  closedSince: (since: number) => Promise<{ runId: string; closedAt: number }[]>;
  openPage: (page?: Uint8Array) => Promise<{ runIds: string[]; next: Uint8Array | undefined }>;
  /** Deletes a conversation's workflows with their histories; terminates those that still run. */
  erase: (sessionId: string, runs: RunsOfSession) => Promise<ErasedWorkflows>;
}

/** A list of closed workflows comes in pages; an operator may stop many at once. */
const LIST_MS = 10_000;
const MAX_LISTED = 10_000;
const PAGE = 500;

/** No request waits for a start; a server that starts many runs at once may be slow. */
const START_MS = 5_000;
/** A message to a run waits at most this long to learn whether a worker has died. */
const LOOK_MS = 100;
/** Time for a worker to take an update. A closing process must still be able to send the signal. */
const UPDATE_MS = 500;
/** After the server has refused search attributes, runs start without them for this long. */
const BARE_MS = 60_000;

/** @param stores of the workers' leases, if they have any */
export function createRunWorkflows(
  client: Client,
  taskQueue: string,
  { leases: all }: Pick<Store, 'leases'> = {},
  tracer?: RequestTracer,
  times = TIMES,
): RunWorkflows {
  const { namespace } = client.options;
  const leases = all?.of(namespace);
  const call = <T>(work: () => Promise<T>, deadlineMs?: number): Promise<T> =>
    withinDeadline(client.connection, work, deadlineMs);
  let bareUntil = 0;

  /** Sends a run a message. A worker that has just died may have cached the workflow. */
  const tell = (
    runId: string,
    send: (run: WorkflowHandle) => Promise<void>,
    deadlineMs?: number,
  ): Promise<void> =>
    call(async () => {
      const workflowId = workflowIdOf(runId);
      const died = leases && withTimeout(LOOK_MS, leases.hasDeath());
      if (await died?.catch(() => false)) await resetStickyQueue(client, { workflowId });
      await send(client.workflow.getHandle(workflowId));
    }, deadlineMs);

  async function start(input: RunInput, labels: RunLabels): Promise<void> {
    try {
      await call(
        () =>
          client.workflow.start(WORKFLOW_TYPE, {
            workflowId: workflowIdOf(input.runId),
            taskQueue,
            args: [input],
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
            workflowIdConflictPolicy: 'USE_EXISTING',
            workflowTaskTimeout: times.workflowTaskMs,
            staticSummary: `${input.agent}: turn ${String(input.turn)} of ${input.sessionId}`,
            staticDetails: labels.details,
            priority: { fairnessKey: fairnessKeyOf(labels.tenant) },
            ...(input.searchAttributes && { typedSearchAttributes: toAttributes(input, labels) }),
          }),
        START_MS,
      );
    } catch (error) {
      // The workflow ran and has closed; the record shows its outcome.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  async function look(runId: string): Promise<WorkflowLook> {
    try {
      return toLook(await call(() => client.workflow.getHandle(workflowIdOf(runId)).describe()));
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      return NOTHING;
    }
  }

  return {
    fleet: `${namespace}/${taskQueue}`,
    namespace,
    start: async (input, labels) => {
      const isBare = !input.searchAttributes || Date.now() < bareUntil;
      try {
        await start({ ...input, searchAttributes: !isBare }, labels);
      } catch (error) {
        if (isBare || !isRefusedForGood(error)) throw error;
        // An attribute has another type, or is not registered everywhere yet; the run starts
        // without.
        await start({ ...input, searchAttributes: false }, labels);
        bareUntil = Date.now() + BARE_MS;
      }
    },
    wake: async (runId, hint) => {
      const traceparent = tracer?.request();
      const told = { ...hint, ...(traceparent !== undefined && { traceparent }) };
      const signal = () => tell(runId, (run) => run.signal(SIGNALS.look, told));
      const update = () =>
        tell(runId, (run) => run.executeUpdate(UPDATES.look, { args: [told] }), UPDATE_MS);
      // An update reaches a worker without the two writes that a signal costs the server, so it tells
      // of answers, for which people wait. But the server keeps it only once a worker has taken it.
      const sent = hint?.at === undefined ? signal() : update().catch(signal);
      await sent.catch(unlessClosed);
    },
    state: async (runId) => (await look(runId)).state,
    look,
    retry: async ({ workflowId, runId, activityId }) => {
      try {
        await call(() => client.activity.fail({ workflowId, runId, activityId }, UNSEEN));
      } catch (error) {
        if (!(error instanceof ActivityNotFoundError)) throw error;
      }
    },
    erase: (sessionId, runs) => eraseWorkflows(client, sessionId, runs),
    closedSince: (since) =>
      call(async () => {
        const found: { runId: string; closedAt: number }[] = [];
        for await (const { workflowId, closeTime } of client.workflow.list({
          query: toClosedQuery(taskQueue, since),
        })) {
          const runId = runOfWorkflow(workflowId);
          if (runId !== undefined) found.push({ runId, closedAt: closeTime?.getTime() ?? since });
          if (found.length >= MAX_LISTED) break;
        }
        return found;
      }, LIST_MS),
    openPage: (page) =>
      call(async () => {
        const { executions, nextPageToken } = await client.workflowService.listWorkflowExecutions({
          namespace,
          query: [...toQuery(taskQueue), "ExecutionStatus = 'Running'"].join(' AND '),
          pageSize: PAGE,
          ...(page !== undefined && { nextPageToken: page }),
        });
        const runIds = executions.flatMap(
          ({ execution }) => runOfWorkflow(execution?.workflowId ?? '') ?? [],
        );
        return { runIds, next: nextPageToken.length > 0 ? nextPageToken : undefined };
      }, LIST_MS),
  };
}

function unlessClosed(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}

/** Failure that no worker's attempt has, so workflows need not know of it. */
const UNSEEN = ApplicationFailure.create({
  message: 'no worker has this attempt',
  type: 'AttemptUnseen',
  nextRetryDelay: 1,
});

/** Leaves out completed workflows, which have ended their runs. */
function toClosedQuery(taskQueue: string, since: number): string {
  return [
    ...toQuery(taskQueue),
    "ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut', 'Canceled')",
    `CloseTime >= '${new Date(since).toISOString()}'`,
  ].join(' AND ');
}

function toQuery(taskQueue: string): string[] {
  return [`WorkflowType = '${WORKFLOW_TYPE}'`, `TaskQueue = ${quote(taskQueue)}`];
}

/**
 * Makes the next task of a workflow go to any worker instead of the one that has cached it, for
 * which the server would wait. This costs a replay of the history.
 */
export async function resetStickyQueue(
  { workflowService, options: { namespace } }: Pick<Client, 'workflowService' | 'options'>,
  execution: { workflowId: string; runId?: string },
): Promise<void> {
  // Without the reset the workflow continues later.
  await workflowService.resetStickyTaskQueue({ namespace, execution }).catch(() => undefined);
}
