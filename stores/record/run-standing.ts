import type { RunError, RunStatus } from '../../protocol/run.js';
import type { SessionRecord } from '../contract/sessions.js';
import { isStalled } from './stalled.js';

/** The state of a session's newest run, as snapshots and lists show it. */
export interface RunStanding {
  runId: string;
  status: RunStatus;
  error?: RunError;
  /** It has written nothing for long. */
  stalled?: true;
  /**
   * The model's provider fails and is asked again automatically, or the agent is paused and the run
   * starts when it is resumed.
   */
  waitingFor?: 'provider' | 'agent';
}

/** @param isHeld the run is not started because its agent is paused */
export function toRunStanding(record: SessionRecord, now: number, isHeld = false): RunStanding {
  const { runId, status, error, waitsUntil = 0 } = record;
  return {
    runId,
    status,
    ...(error !== undefined && { error }),
    ...(!isHeld && isStalled(record, now) && { stalled: true }),
    ...(waitsUntil > now && { waitingFor: 'provider' }),
    ...(isHeld && { waitingFor: 'agent' }),
  };
}
