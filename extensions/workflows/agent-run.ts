import type { RunInput, RunSummary } from '../../protocol/run.js';
import { carryOutRun } from '../../workflows/agent-run.js';
import { createNotices } from './notice-starts.js';

/** A run of an agent, with notices of what it waits for. */
export function agentRun(input: RunInput): Promise<RunSummary> {
  return carryOutRun(input, createNotices);
}
