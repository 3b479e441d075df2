import type { AttemptEnd } from '../protocol/telemetry.js';
import type { RunUsage, TerminalStatus } from '../protocol/run.js';
import type { Call } from './record.js';

/**
 * What one run has to do in a leg of its conversation, which is from begin or resume to the next
 * pause or end. A sub-agent's run takes part in the legs of the conversation's own run.
 */
export interface RunPart {
  sessionId: string;
  runId: string;
  agent: string;
  turn: number;
  /** The conversation's own run. */
  rootRunId: string;
  /** Of the leg, from 1 in each run of the conversation. */
  number: number;
  /** When this run began to take part, ms since the epoch. */
  beganAt: number;
  /** What the run has used, and had used before. */
  used?: RunUsage | undefined;
  usedBefore?: RunUsage | undefined;
  /** The call that a sub-agent's run answers. */
  parent?: { sessionId: string; runId: string; toolCallId: string } | undefined;
}

/** How a wait ended: `lost` with a run whose workflow is gone. */
export type WaitEnd = 'answered' | 'expired' | 'stopped' | 'abandoned' | 'lost';

/** What people have answered. */
export interface AnswerFacts {
  decision: 'approved' | 'denied' | 'result' | 'error';
  isEdited: boolean;
  isAutomatic: boolean;
  /** The channel. */
  via?: string | undefined;
}

/** What a change tells those who listen, once it is stored. What must not get lost is stored with the change. */
export type Event =
  | { kind: 'run_ended'; agent: string; status: TerminalStatus; code?: string | undefined }
  /** A run has ended while it was at work. */
  | { kind: 'part_left'; part: RunPart }
  | { kind: 'attempt_ended'; outcome: AttemptEnd; code?: string }
  /** What an attempt was to do is done, by this change or by one before whose listeners may not have been called. */
  | { kind: 'work_over' }
  | {
      kind: 'wait_ended';
      /** The run that asked, when its question was answered. */
      part: RunPart;
      call: { toolCallId: string; toolName: string; kind: Call['kind']; step: number };
      since: number;
      now: number;
      how: WaitEnd;
      /** Absent where nobody answered, and no rule of the tool did. */
      answer?: AnswerFacts | undefined;
    }
  /** What the owner is charged for the conversation may have changed. */
  | { kind: 'charge_changed' }
  /** The outbox of the audit trail has got an entry. */
  | { kind: 'act_noted' }
  /** The conversation's run has ended, and messages wait for their turn. */
  | { kind: 'next_waits' };
