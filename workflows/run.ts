import type { Next, RunInput, RunRef } from '../protocol/run.js';
import type { Loop, View } from '../run/loop.js';
import type { OperatorsView } from './operators-view.js';

/** Work of an extension during a run. The run does not wait for it, except for `end`. */
export interface RunExtension {
  show: (view: View) => void;
  /** Resolves once Temporal has accepted everything that the extension started. */
  end: (next: Extract<Next, { do: 'done' }>) => Promise<void>;
}

/** State of one run that its modules share; signal and update handlers change it at any await. */
export interface Run {
  readonly input: RunInput;
  readonly view: OperatorsView;
  readonly extensions: readonly RunExtension[];
  loop: Loop;
  /** Number of stops that are being recorded, and of ends of which sub-agents are being told. */
  recording: number;
  /** Number of requests to read the record again. */
  looks: number;
  /** True if the parent waits for a report of this run's end. */
  reportsEnd: boolean;
  /** `traceparent` of the request that began the run or last let it continue. */
  traceparent: string | undefined;
}

/** The fields that every activity of the run gets. */
export function runRef({
  input: { sessionId, runId, agent },
  traceparent,
}: Run): RunRef & Pick<RunInput, 'traceparent'> {
  return { sessionId, runId, agent, traceparent };
}
