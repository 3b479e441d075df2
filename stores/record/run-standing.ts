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
  /** The model's provider fails and is asked again automatically. */
  waitingFor?: 'provider';
}

export function toRunStanding(record: SessionRecord, now: number): RunStanding {
  const { runId, status, error, waitsUntil = 0 } = record;
  return {
    runId,
    status,
    ...(error !== undefined && { error }),
    ...(isStalled(record, now) && { stalled: true }),
    ...(waitsUntil > now && { waitingFor: 'provider' }),
  };
}
