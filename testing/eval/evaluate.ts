import type { AgentDefinition, LlmConfig } from '../../agents/index.js';
import type { EvalCase } from './case.js';
import { compare, stepsOf, type Difference, type FoundDifference } from './compare.js';
import { runLane, type LaneOptions, type LaneResult } from './run-lane.js';

/** Result and cost of one lane of a case. */
export interface LaneReport {
  lane: 'observed' | 'baseline' | 'candidate';
  steps: number;
  tools: string[];
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  costMicroUsd?: number | undefined;
  /** Duration, ms; absent for the recording. */
  ms?: number | undefined;
  /** Differences from the recording. */
  differences: FoundDifference[];
}

/** A case with its lanes. It passes if the candidate has no difference of a kind in `failOn`. */
export interface CaseReport {
  name: string;
  agent: string;
  passed: boolean;
  /** Differences of the candidate that fail the case. */
  failures: FoundDifference[];
  lanes: LaneReport[];
}

export interface EvaluateOptions extends LaneOptions {
  /** Agents before the change, with their model, for a lane between recording and candidate. */
  baseline?: { agents: readonly AgentDefinition[]; model?: LlmConfig['model'] } | undefined;
  /** Kinds of differences that fail a case. Default: `drift`, `status`, `tools`. */
  failOn?: readonly Difference[] | undefined;
}

export const FAIL_ON: readonly Difference[] = ['drift', 'status', 'tools'];

/**
 * Runs a recorded case with the current agent and reports the differences. It executes models only, no tools.
 *
 * @throws Error if no agent has the case's name
 */
export async function evaluateCase(
  observed: EvalCase,
  { baseline, failOn = FAIL_ON, ...candidate }: EvaluateOptions,
): Promise<CaseReport> {
  const lanes: LaneReport[] = [toLane('observed', observed, [])];
  if (baseline !== undefined) {
    const { live, services } = candidate;
    lanes.push(ofRun('baseline', await runLane(observed, { ...baseline, live, services })));
  }
  const last = ofRun('candidate', await runLane(observed, candidate));
  lanes.push(last);
  const failures = last.differences.filter((each) => failOn.includes(each.in));
  const { name, agent } = observed;
  return { name, agent, passed: failures.length === 0, failures, lanes };

  function ofRun(lane: LaneReport['lane'], result: LaneResult): LaneReport {
    return { ...toLane(lane, result.run, compare(observed, result)), ms: result.ms };
  }
}

function toLane(
  lane: LaneReport['lane'],
  run: EvalCase,
  differences: FoundDifference[],
): LaneReport {
  const tools = run.turns.flatMap(({ calls }) => calls.map(({ tool }) => tool));
  return { lane, steps: stepsOf(run), tools, ...run.usage, differences };
}
