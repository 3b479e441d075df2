import type { Next, RunInput } from '../protocol/run.js';
import type { Loop, View } from '../run/loop.js';
import type { OperatorsView } from './operators-view.js';

/** What an extension does beside a run; it delays nothing. */
export interface Beside {
  show: (view: View) => void;
  /** Resolves when all that it has begun is with Temporal. */
  end: (next: Extract<Next, { do: 'done' }>) => Promise<void>;
}

/** One run, as its parts share it; signals and updates change it while others wait. */
export interface Run {
  readonly input: RunInput;
  readonly view: OperatorsView;
  readonly beside: readonly Beside[];
  loop: Loop;
  /** Stops that are being recorded for a cancel or a signal, outside of an update handler. */
  recording: number;
  /** How often it was asked to look at its record. */
  looks: number;
  /** True if the parent waits for a report of this run's end. */
  reportsEnd: boolean;
  /** `traceparent` of the request that let the run continue, or began it. */
  traceparent: string | undefined;
}

/** The fields that every activity of the run gets. */
export function runRef({
  input: { sessionId, runId, agent },
  traceparent,
}: Run): Pick<RunInput, 'sessionId' | 'runId' | 'agent' | 'traceparent'> {
  return { sessionId, runId, agent, traceparent };
}
