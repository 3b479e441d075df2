import { startingCarry, type Carry } from '../protocol/carry.js';
import type { RunError, RunInput } from '../protocol/run.js';

/** State shared by the parts of one run; signals and updates change it while others wait. */
export interface RunState {
  readonly input: RunInput;
  carry: Carry;
  /** A stop has ended the run in the record; results in progress are ignored. */
  isEnded: boolean;
  /**
   * Number of stops that are being recorded for a cancel or a signal, outside of an update handler.
   */
  recording: number;
  /** Calls whose sub-agents have reported their end. */
  readonly endedChildren: Set<string>;
  /** How often the run was asked to look at its record, and how many of these it has done while it waited. */
  looks: number;
  looked: number;
  /** Number of notices that are being started or signalled. */
  noticing: number;
  /** Waits with notices, by step. */
  readonly waits: Map<number, number>;
  /** Why a leg of the run has failed it. */
  error?: RunError | undefined;
  /** True if the parent waits for a report of this run's end. */
  reportsEnd: boolean;
  /** `traceparent` of the request that let the run continue, or began it. */
  traceparent: string | undefined;
}

export function createRunState(input: RunInput): RunState {
  return {
    input,
    carry: startingCarry(input.from),
    isEnded: false,
    recording: 0,
    endedChildren: new Set(),
    ...{ looks: 0, looked: 0 },
    noticing: 0,
    waits: new Map(),
    reportsEnd: false,
    traceparent: input.traceparent,
  };
}

/** The fields that every activity of the run gets. */
export function runRef({
  input,
  traceparent,
}: RunState): Pick<RunInput, 'sessionId' | 'runId' | 'agent' | 'traceparent'> {
  const { sessionId, runId, agent } = input;
  return { sessionId, runId, agent, traceparent };
}
