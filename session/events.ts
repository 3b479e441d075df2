import type { AttemptEnd } from '../protocol/telemetry.js';
import type { RunUsage, TerminalStatus } from '../protocol/run.js';
import type { Call } from './record.js';

/**
 * One run's part in a leg of its conversation. A leg lasts from a begin or resume to the next pause
 * or end. Runs of sub-agents take part in the legs of the conversation's own run.
 */
export interface RunPart {
  sessionId: string;
  runId: string;
  agent: string;
  turn: number;
  rootRunId: string;
  /** Number of the leg, from 1 in each run of the conversation. */
  number: number;
  /** Time at which this run joined the leg, ms since the epoch. */
  beganAt: number;
  /** Usage of the run so far, and before the leg. */
  used?: RunUsage | undefined;
  usedBefore?: RunUsage | undefined;
  /** The call that a sub-agent's run answers. */
  parent?: { sessionId: string; runId: string; toolCallId: string } | undefined;
}

/** The end of a wait. `lost`: its run's workflow is gone. */
export type WaitEnd = 'answered' | 'expired' | 'stopped' | 'abandoned' | 'lost';

export interface AnswerFacts {
  decision: 'approved' | 'denied' | 'result' | 'error';
  isEdited: boolean;
  isAutomatic: boolean;
  via?: string | undefined;
}

/** An event that a change reports once it is stored. Facts that must not get lost are stored with the change. */
export type Event =
  | { kind: 'run_ended'; agent: string; status: TerminalStatus; code?: string | undefined }
  /** A run has ended while it was at work. */
  | { kind: 'part_left'; part: RunPart }
  | { kind: 'attempt_ended'; outcome: AttemptEnd; code?: string }
  /** An attempt's work is done, by this change or by an earlier one whose listeners may not have been called. */
  | { kind: 'work_over' }
  | {
      kind: 'wait_ended';
      /** The run that asked, when its question was answered. */
      part: RunPart;
      call: { toolCallId: string; toolName: string; kind: Call['kind']; step: number };
      since: number;
      now: number;
      how: WaitEnd;
      /** Absent if neither a person nor a rule of the tool answered. */
      answer?: AnswerFacts | undefined;
    }
  /** The owner's charge for the conversation may have changed: `isSize`, only by what is stored. */
  | { kind: 'charge_changed'; isSize?: boolean }
  /** The outbox of the audit trail has got an entry. */
  | { kind: 'act_noted' }
  /** The conversation's run has ended, and messages wait for their turn. */
  | { kind: 'next_waits' };
