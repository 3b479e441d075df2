import type { Client } from '@temporalio/client';
import type { Actor } from '../protocol/actor.js';
import {
  deliveryWorkflowIdOf,
  rootOf,
  toolWorkflowIdOf,
  toShownSessionId,
  workflowIdOf,
} from '../protocol/ids.js';
import { isTerminal } from '../protocol/run.js';
import { toAct } from './record/acts.js';
import { logEntries, type AuditLogger } from './record/listeners.js';
import type { Erasure } from '../store/contract/erasures.js';
import type { SessionOwner } from '../store/contract/waiting.js';
import type { Store } from '../store/contract/store.js';
import type { ErasureReply } from '../protocol/replies.js';
import { toDeliveryPrefix } from './deliveries.js';
import { codeOf, isRefusedForGood, withinDeadline } from './temporal-calls.js';

/** The result of deleting a conversation's workflows in Temporal. */
export interface ErasedWorkflows {
  /** Number of workflows with deleted executions. */
  deleted: number;
  /** Ids of the runs that Temporal did not know. */
  unknown: string[];
}

/** The runs of a conversation, from its record. */
export type RunsOfSession = Pick<Erasure, 'runs' | 'parts' | 'childRuns' | 'calls' | 'owner'>;

export interface EraseDeps {
  store: Pick<Store, 'sessions' | 'runs' | 'due' | 'audit' | 'erasures' | 'files' | 'owners'>;
  workflows: {
    wake: (runId: string) => Promise<void>;
    erase: (sessionId: string, runs: RunsOfSession) => Promise<ErasedWorkflows>;
  };
  lostSignal: (runId: string) => (error: unknown) => void;
  logger: AuditLogger;
}

export interface Erasing {
  /**
   * Stops the session's run and erases the session with its stream, its workflows and their
   * histories. Undefined for an unknown id.
   *
   * @throws HelixError `unavailable` if a run that is active or waits cannot be signalled; nothing is
   * erased then
   */
  deleteSession: (sessionId: string, by?: string | Actor) => Promise<ErasureReply | undefined>;
  /** Completes the erasures of a session id that were interrupted; false if something is left. */
  finishErasures: (sessionId: string) => Promise<boolean>;
  /** The same for all conversations of a person, and for files without a conversation. */
  finishErasuresOf: (who: SessionOwner) => Promise<boolean>;
}

/** Delay before the sweeper checks an erasure, in case this process dies. */
const CHECK_MS = 3_000;
/** A run that was starting when it was erased may appear in Temporal up to this long after. */
const APPEARS_MS = 15_000;
/** Id prefixes of a run's workflows: the run, work of its calls, notices of waits and end. */
const KINDS = ['run', 'call', 'wait', 'end'];
const AT_ONCE = 10;
/** Servers that delete many may be slow. */
const DELETE_MS = 5_000;
const LIST_MS = 10_000;
/** gRPC: not found. */
const NOT_FOUND = 5;

/**
 * Erases conversations. The transition that removes a record notes the rest of the work: runs to
 * delete in Temporal, figures of the owner, the receipt. Each step can be repeated, by the sweeper
 * if this process dies.
 */
export function createErasing({ store, workflows, lostSignal, logger }: EraseDeps): Erasing {
  const { sessions, runs, due, audit, erasures, files, owners } = store;

  /** @throws HelixError `unavailable`; it is repeated as a whole then */
  async function finish(sessionId: string, erasure: Erasure): Promise<ErasureReply> {
    const { act, runs: ended, parts, starting, rows, entries, bytes } = erasure;
    await erasures.clear(sessionId, erasure);
    for (const fileId of erasure.files) await files.forget(sessionId, fileId);
    logEntries(logger, await audit.relay(sessionId));
    const { deleted, unknown } = await workflows.erase(sessionId, erasure);
    const mayAppear = starting && unknown.some((runId) => ended.includes(runId));
    const complete = !mayAppear || Date.now() - act.at > APPEARS_MS;
    const counts = { sessions: 1 + parts.length, workflows: deleted, rows, entries, bytes };
    if (complete) {
      const { by, roles, via, at } = act;
      const { tenant, owner } = erasure.owner;
      const receipt = { ...toAct('erased', { by, roles, via }, { tenant, owner, detail: counts }) };
      // An erasure has one receipt, however often it is finished.
      const entry = { ...receipt, id: `${act.id}-done`, outcome: 'complete' };
      logEntries(
        logger,
        await audit.record({ ...entry, at: Math.max(at, receipt.at) }, { sessionId }),
      );
      await erasures.done(sessionId, erasure);
    }
    return toReceipt(sessionId, erasure, { complete, workflows: deleted });
  }

  async function finishErasures(sessionId: string): Promise<boolean> {
    let isComplete = true;
    for (const erasure of await erasures.of(sessionId)) {
      const { complete } = await finish(sessionId, erasure);
      isComplete &&= complete;
    }
    return isComplete;
  }

  return {
    finishErasures,
    finishErasuresOf: async (who) => {
      let isComplete = true;
      for (const sessionId of await erasures.pending(who)) {
        const isDone = await finishErasures(sessionId).catch((error: unknown) => {
          logger.warn({ err: error, sessionId }, 'an erasure is not complete yet');
          return false;
        });
        isComplete &&= isDone;
      }
      for (const sessionId of await files.eraseUnclaimed(who)) {
        // The charge for the files ends, and the sweeper finds that nothing is left.
        await owners.fold(sessionId, who);
        if (files.reclaim !== undefined) await due.note(sessionId, 0);
      }
      return isComplete;
    },
    deleteSession: async (sessionId, who = {}) => {
      const actor: Actor = typeof who === 'string' ? { by: who } : who;
      const record = await sessions.read(sessionId);
      await due.note(rootOf(sessionId), CHECK_MS);
      if (record !== undefined && !isTerminal(record.status)) {
        await runs.stop(sessionId, { mode: 'abort', reason: 'deleted', by: actor.by });
        const signalled = workflows.wake(record.runId);
        // A starting run reads its record first, finds none and ends.
        if (record.status !== 'starting') await signalled;
        else void signalled.catch(lostSignal(record.runId));
      }
      const act = toAct('erase', actor);
      await sessions.erase(sessionId, act);
      const erasure = (await erasures.of(sessionId)).find((each) => each.act.id === act.id);
      // The record is gone; if Temporal is away, the sweeper does the rest.
      try {
        if (erasure !== undefined) return await finish(sessionId, erasure);
        await finishErasures(sessionId);
        return undefined;
      } catch (error) {
        logger.warn({ err: error, sessionId }, 'an erasure is not complete yet');
        return erasure && toReceipt(sessionId, erasure, { complete: false, workflows: 0 });
      }
    },
  };
}

function toReceipt(
  sessionId: string,
  { act: { at, by }, parts, rows, entries, bytes }: Erasure,
  { complete, workflows }: Pick<ErasureReply, 'complete' | 'workflows'>,
): ErasureReply {
  const counts = { sessions: 1 + parts.length, workflows, rows, entries, bytes };
  return { sessionId: toShownSessionId(sessionId), at, by, complete, ...counts };
}

/**
 * Deletes the workflows and histories of a conversation's runs, of its sub-agents and of their
 * notices; those that still run are terminated. The record's ids find the runs and the work of
 * their last calls, a list of Temporal's the rest. Of the list only workflows of these runs count,
 * since another conversation may have the id by now.
 */
export async function eraseWorkflows(
  client: Client,
  sessionId: string,
  { runs, parts, childRuns, calls, owner }: RunsOfSession,
): Promise<ErasedWorkflows> {
  const { connection, workflowService } = client;
  const { namespace } = client.options;

  /** Returns false if there is no such execution; without a run id it takes the newest. */
  async function erase(workflowId: string, runId?: string): Promise<boolean> {
    const workflowExecution = { workflowId, ...(runId !== undefined && { runId }) };
    try {
      await withinDeadline(
        connection,
        () => workflowService.deleteWorkflowExecution({ namespace, workflowExecution }),
        DELETE_MS,
      );
      return true;
    } catch (error) {
      if (codeOf(error) === NOT_FOUND) return false;
      throw error;
    }
  }

  const own = new Set(runs);
  const below = new Set(parts.map((part) => `${sessionId}.${part}`));
  const deliveries = deliveryWorkflowIdOf(toDeliveryPrefix(sessionId, owner.tenant));
  const belongs = (workflowId: string): boolean => {
    if (workflowId.startsWith(deliveries)) return true;
    const [, session = '', nth = ''] = workflowId.split(':');
    return own.has(`${session}:${nth}`) || below.has(session);
  };

  async function list(): Promise<{ workflowId: string; runId: string }[]> {
    const ofRuns = KINDS.flatMap((kind) => [`${kind}:${sessionId}:`, `${kind}:${sessionId}.`]);
    const query = [...ofRuns, deliveries]
      .map((prefix) => `WorkflowId STARTS_WITH '${prefix}'`)
      .join(' OR ');
    try {
      return await withinDeadline(
        connection,
        async () => {
          const found: { workflowId: string; runId: string }[] = [];
          for await (const { workflowId, runId } of client.workflow.list({ query })) {
            if (belongs(workflowId)) found.push({ workflowId, runId });
          }
          return found;
        },
        LIST_MS,
      );
    } catch (error) {
      // Some visibility stores lack this operator.
      if (isRefusedForGood(error)) return [];
      throw error;
    }
  }

  const deleted = new Set<string>();
  const unknown: string[] = [];
  const listed = await list();
  for (const page of pagesOf([...runs, ...childRuns])) {
    const found = await Promise.all(page.map((runId) => erase(workflowIdOf(runId))));
    for (const [at, runId] of page.entries()) {
      if (found[at] === true) deleted.add(workflowIdOf(runId));
      else unknown.push(runId);
    }
  }
  // The list is seconds late, and the work of tools holds what people wrote.
  for (const page of pagesOf(calls)) {
    const ids = page.map((call) => toolWorkflowIdOf(...call));
    const found = await Promise.all(ids.map((workflowId) => erase(workflowId)));
    for (const [at, workflowId] of ids.entries()) if (found[at] === true) deleted.add(workflowId);
  }
  // Deleting takes a while, so the list may have executions that were deleted above.
  for (const page of pagesOf(listed)) {
    const found = await Promise.all(page.map(({ workflowId, runId }) => erase(workflowId, runId)));
    for (const [at, { workflowId }] of page.entries()) {
      if (found[at] === true) deleted.add(workflowId);
    }
  }
  return { deleted: deleted.size, unknown };
}

function* pagesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let at = 0; at < items.length; at += AT_ONCE) yield items.slice(at, at + AT_ONCE);
}
