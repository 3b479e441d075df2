import { defineSearchAttributeKey } from '@temporalio/common';
import { ApplicationFailure, upsertMemo, workflowInfo } from '@temporalio/workflow';
import type { FiringNote, ScheduledRun } from '../../protocol/scheduled-run.js';
import { askersOf } from '../../protocol/run.js';
import { startAgent, type CalledAgentRun } from '../../workflows/run-agent.js';

/** The time of the schedule, or of the trigger, also if the firing waited behind others. */
const FiredAt = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

/**
 * One firing of a schedule: a run of its agent. It is over when the run is, so that the schedule's
 * overlap policy is about runs; cancel stops the run. The memo says which run it is and how it ended.
 */
export async function agentFiring(scheduled: ScheduledRun): Promise<FiringNote> {
  const { agent, message, owner, tenant, sessionId, whenBusy } = scheduled;
  const { typedSearchAttributes, startTime } = workflowInfo();
  const askers = askersOf(scheduled, (typedSearchAttributes.get(FiredAt) ?? startTime).getTime());
  const [creator, trigger = creator] = askers;
  let run: CalledAgentRun;
  try {
    run = await startAgent(agent, message, {
      ...{ userId: owner, tenantId: tenant, sessionId, askers, by: trigger.by, withoutReply: true },
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

/** Read by the API without a worker. */
function note(firing: FiringNote): FiringNote {
  upsertMemo({ firing });
  return firing;
}

/** Of a refusal; undefined for a cancel, and for what is no refusal. */
function codeOf(error: unknown): string | undefined {
  const { cause } = error as { cause?: unknown };
  return cause instanceof ApplicationFailure ? (cause.type ?? undefined) : undefined;
}
