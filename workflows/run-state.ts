import { startingCarry, type Carry } from './carry.js';
import type { RunInput } from '../protocol/run.js';

/** What the parts of one run share; signals and updates change it while others wait. */
export interface RunState {
  readonly input: RunInput;
  carry: Carry;
  /** A stop has ended the run in the record: what is under way comes to nothing. */
  isEnded: boolean;
  /** Stops that are being recorded: by a cancel or a signal, which no update handler carries. */
  recording: number;
  /** Calls whose sub-agents have said that they ended. */
  readonly endedChildren: Set<string>;
  /** The parent waits for word of this run's end. */
  reportsEnd: boolean;
}

export function createRunState(input: RunInput): RunState {
  return {
    input,
    carry: startingCarry(input.from),
    isEnded: false,
    recording: 0,
    endedChildren: new Set(),
    reportsEnd: false,
  };
}

/** What every activity of the run is told. */
export function runRef({ input }: RunState): Pick<RunInput, 'sessionId' | 'runId' | 'agent'> {
  const { sessionId, runId, agent } = input;
  return { sessionId, runId, agent };
}
