import { defineSearchAttributeKey } from '@temporalio/common';
import { ApplicationFailure, upsertMemo, workflowInfo } from '@temporalio/workflow';
import type { CalledRunOptions, CalledRunResult } from '../../protocol/temporal.js';
import type { FiringNote, ScheduledRun } from '../../protocol/schedules.js';
import { askersOf } from '../../protocol/run.js';

interface StartedRun {
  sessionId: string;
  runId: string;
  result: () => Promise<CalledRunResult>;
}

type StartAgent = (
  agent: string,
  message: string,
  options: CalledRunOptions,
) => Promise<StartedRun>;

/** Scheduled or triggered time of a firing, even if it waited behind others. */
const FiredAt = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

/**
 * Carries out one firing of a schedule: a run of its agent. It ends with the run, so that the overlap
 * policy applies to runs. A cancel stops the run. The memo names the run and its outcome.
 */
export async function carryOutFiring(
  scheduled: ScheduledRun,
  startAgent: StartAgent,
): Promise<FiringNote> {
  const { agent, message, owner, tenant, sessionId, whenBusy } = scheduled;
  const { typedSearchAttributes, startTime } = workflowInfo();
  const askers = askersOf(scheduled, (typedSearchAttributes.get(FiredAt) ?? startTime).getTime());
  const [creator, trigger = creator] = askers;
  let run: StartedRun;
  try {
    run = await startAgent(agent, message, {
      userId: owner,
      tenantId: tenant,
      sessionId,
      askers,
      by: trigger.by,
      withoutReply: true,
      whenBusy: whenBusy === 'skip' ? 'fail' : whenBusy,
    });
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    if (code === 'agent_already_running') return note({ outcome: 'skipped', code });
    note({ outcome: 'refused', code });
    throw error;
  }
  const begun = note({ sessionId: run.sessionId, runId: run.runId });
  const result = await run.result();
  const code = result.status === 'failed' ? result.error.code : undefined;
  return note({ ...begun, outcome: result.status, ...(code !== undefined && { code }) });
}

/** Writes the memo, which the API reads without a worker. */
function note(firing: FiringNote): FiringNote {
  upsertMemo({ firing });
  return firing;
}

/** Returns a refusal's code; undefined for a cancel and for other errors. */
function codeOf(error: unknown): string | undefined {
  const { cause } = error as { cause?: unknown };
  return cause instanceof ApplicationFailure ? (cause.type ?? undefined) : undefined;
}
