import type { AgentDefinition } from '../../agents/definitions.js';
import { hasCode } from '../../protocol/errors.js';
import type { Row } from '../../protocol/rows.js';
import type { StepOutcome } from '../../protocol/run.js';
import { withTimeout } from '../../protocol/time.js';
import type { ActivityDeps } from '../deps.js';
import { toLoggedError } from './provider-failure.js';
import { toFinishEvent, toStepRecords } from './step-records.js';

/** Time limit of a hook, ms. */
export const HOOK_MS = 10_000;

/** A stored step, or the end of its run. */
interface Stored {
  agent: AgentDefinition;
  sessionId: string;
  runId: string;
  step: number;
  /** True if the run has completed. */
  isLast: boolean;
  /** True if the agent's `onStepFinish` was already called for this step. */
  isKnown?: boolean;
}

/**
 * Calls an agent's hooks for a stored step. They may run twice if this process dies before it
 * reports the work.
 */
export function createFinishHooks({ store, logger }: Pick<ActivityDeps, 'store' | 'logger'>) {
  return async (stored: Stored): Promise<void> => {
    const { agent, sessionId, runId, step, isLast, isKnown = false } = stored;
    const onStepFinish = isKnown ? undefined : agent.onStepFinish;
    const onFinish = isLast ? agent.onFinish : undefined;
    if (onStepFinish === undefined && onFinish === undefined) return;
    const call = async (hook: () => unknown): Promise<void> => {
      try {
        await withTimeout(HOOK_MS, Promise.resolve().then(hook));
      } catch (error) {
        logger.warn({ err: toLoggedError(error), runId, step }, "an agent's hook failed");
      }
    };
    const startRow = await findStartRow(sessionId, runId);
    if (startRow === undefined) return;
    const rows = await store.sessions.rows(sessionId, startRow);
    const newest = newestOf(rows, runId);
    if (newest === undefined) return;
    const steps = toStepRecords(agent, rows, newest.messageId);
    const last = steps.at(-1);
    if (last === undefined) return;
    if (onStepFinish !== undefined && newest.step === step) {
      await call(() => onStepFinish({ ...last, sessionId, runId, step }));
    }
    if (onFinish !== undefined) {
      const event = toFinishEvent(steps, last, { sessionId, runId, step: newest.step });
      await call(() => onFinish(event));
    }
  };

  /** Reads the run list if queued messages have already begun the next run. */
  async function findStartRow(sessionId: string, runId: string): Promise<number | undefined> {
    const record = await store.sessions.read(sessionId);
    if (record === undefined || record.runId === runId) return record?.turnStartRow;
    const runs = await store.runs.list(sessionId).catch(unlessErased);
    const run = runs?.find((each) => each.runId === runId);
    return run?.rewound === true ? undefined : run?.startRow;
  }
}

/** An erased session has nothing left to tell or to end. @throws other errors */
export function unlessErased(error: unknown): undefined {
  if (!hasCode(error, 'not_found')) throw error;
}

export function isCompletion(outcome: StepOutcome): boolean {
  return outcome.kind === 'ended' && outcome.status === 'completed';
}

function newestOf(rows: readonly Row[], runId: string) {
  const row = rows.findLast(
    (each) => each.role === 'assistant' && each.runId === runId && each.display !== true,
  );
  return row?.role === 'assistant' && row.interrupted === undefined ? row : undefined;
}
