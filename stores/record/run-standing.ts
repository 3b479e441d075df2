import type { RunError, RunStatus } from '../../protocol/run.js';
import type { SessionRecord } from '../contract/sessions.js';
import { isStalled } from './stalled.js';

/** How a session's newest run stands, for whoever looks at it. */
export interface RunStanding {
  runId: string;
  status: RunStatus;
  error?: RunError;
  /** It has long written nothing. */
  stalled?: true;
  /** The model's provider fails; it is asked again by itself. */
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
