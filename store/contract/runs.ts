import type { FinishReason } from '../../protocol/chunk.js';
import type { At, RunError, RunMode, RunStatus, StopRequest } from '../../protocol/run.js';
import type { Begin, BeginReply } from '../../session/begin.js';
import type { BeginChild, BeginChildReply } from '../../session/children.js';
import type { End, EndReply } from '../../session/finish.js';
import type { Act, Decoded, RunUsage } from '../../session/input.js';
import type { NextWants } from '../../session/next.js';
import type { InterruptRecord } from '../../session/record.js';
import type { ResumeReply, ResumeRun, Rewind, RewindReply } from '../../session/rerun.js';
import type { StopReply } from '../../session/stop.js';
import type { PinTools, PinToolsReply } from '../../session/pinned-tools.js';
import type { Noted } from './due.js';

export type {
  Begin as BeginInput,
  BeginReply as BeginResult,
  Begun as RunRecord,
} from '../../session/begin.js';
export type { BeginChildReply as BeginChildResult } from '../../session/children.js';
export type { End as EndInput, EndReply as EndResult } from '../../session/finish.js';
export type { RunUsage, UserMessage } from '../../session/input.js';
export type { InterruptRecord } from '../../session/record.js';
export type { ResumeRun as ResumeRunInput } from '../../session/rerun.js';
export type { StopReply as StopResult } from '../../session/stop.js';

/** Runs: changes that begin, end or repeat them. At most one run of a session is active. */
export interface Runs {
  /** Accepts user messages and starts a run for them, once the session is noted. Only this change creates sessions. */
  begin: (input: Begin, noted?: Noted) => Promise<BeginReply>;
  /** Creates a sub-agent's session and run from the call that it carries out. */
  beginChild: (input: BeginChild) => Promise<BeginChildReply>;
  /** Starts a run for the turn of one that was interrupted, or failed for a temporary reason. */
  resume: (input: ResumeRun) => Promise<ResumeReply>;
  /** Takes an idle session back to a turn's beginning, or to a checkpoint, and starts a run. */
  rewind: (input: Rewind) => Promise<RewindReply>;
  /** Stops a run. One whose model does not stream ends at once, with its sub-agents. */
  stop: (
    sessionId: string,
    stop: StopRequest & { runId?: string; act?: Act },
    noted?: Noted,
  ) => Promise<StopReply>;
  /** Keeps the tools that servers offer to a run; the first list counts. */
  pinTools: (input: PinTools) => Promise<Decoded<PinToolsReply>>;
  /** Ends a run: run, session and stream become terminal together. */
  end: (input: End) => Promise<EndReply>;
  /** Returns a run's next work according to its record. */
  next: (run: { sessionId: string; runId: string }, wants?: NextWants) => Promise<At>;
  /** The newest run; null for an unknown session. */
  current: (sessionId: string) => Promise<RunInfo | null>;
  /** One run, without `rewound`; null for an unknown run. @throws HelixError `not_found` */
  read: (sessionId: string, runId: string) => Promise<RunInfo | null>;
  /** Every run of the session, oldest first. @throws HelixError `not_found` */
  list: (sessionId: string) => Promise<RunInfo[]>;
  /** The newest run's stop; null if it was not stopped. @throws HelixError `not_found` */
  interruption: (sessionId: string) => Promise<InterruptRecord | null>;
}

export interface RunInfo {
  runId: string;
  turn: number;
  status: RunStatus;
  stepCount: number;
  /** Sequence before its turn's first chunk. */
  startSequence: number;
  startedAt: number;
  endedAt?: number;
  usage?: RunUsage;
  /** Why the model ended its newest committed reply. */
  finishReason?: FinishReason;
  /** The result that the model submitted, for an agent with an output schema. */
  output?: unknown;
  error?: RunError;
  /** Reason of an interruption, if one was given. */
  reason?: string;
  mode: RunMode;
  /** Index of its turn's first row. */
  startRow: number;
  /** UI message id of its turn's reply. */
  messageId: string;
  /** True if a rewind dropped its turn. */
  rewound?: boolean;
  /** The requester, if recorded. */
  by?: string;
}
