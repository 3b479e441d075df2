import type { Actor } from '../protocol/actor.js';
import type { UncheckedAnswer } from '../protocol/answers.js';
import type { Row } from '../protocol/rows.js';
import type { RunMode, StopRequest } from '../protocol/run.js';
import type {
  BeginInput,
  BeginResult,
  RunRecord,
  StopResult,
  UserMessage,
} from '../store/contract/runs.js';
import type { ReadMeter } from '../store/contract/log.js';
import type { AnswerOptions, AnswerResult, Answers } from './record/answers.js';
import type { Listener } from '../store/change.js';
import type { AgentPauses } from './agent-pauses.js';
import type { Deliveries } from './deliveries.js';
import type { Erasing } from './erase.js';
import type { RunsHost } from './extension.js';
import type { SessionOwner } from '../store/contract/waiting.js';
import type { Starts } from './starts.js';
import type { Stops } from './stops.js';
import type { Uploads } from './uploads.js';
import type { SweepBudget, SweptSession } from './sweep-session.js';

/**
 * The runs of all sessions: begins, answers, stops and repeats them. Every method throws HelixError
 * `unavailable` when Redis cannot be reached. Temporal may be away: runs are begun, answered and
 * stopped in Redis; their workflows are started and signalled in the background, and by the sweeper
 * if that fails.
 */
export interface Runs
  extends
    Omit<Answers, 'submit'>,
    Erasing,
    Pick<Starts, 'idle' | 'startNext' | 'startRun' | 'wake'>,
    Pick<Stops, 'endLost'> {
  submitToolResult: (answer: UncheckedAnswer, options?: AnswerOptions) => Promise<AnswerResult>;
  temporal?: RunsHost['temporal'];
  /** Lets extensions forget a person. @throws HelixError `unavailable` */
  forget: (who: SessionOwner) => Promise<void>;
  deliveries?: Deliveries | undefined;
  pauses: AgentPauses;
  uploads: Uploads;
  /** Listeners of extensions, which also hear the changes that the work of runs makes. */
  listeners: readonly Listener[];
  /** Accepts user messages; starts the workflow of their run in the background. */
  execute: (input: ExecuteInput) => Promise<BeginResult>;
  /** Stops the session's run; resolves as soon as the stop is recorded. */
  stop: (sessionId: string, stop: StopRequest & Actor & { runId?: string }) => Promise<StopResult>;
  /**
   * Continues where the newest run was interrupted, or failed with a retryable error. A run that is
   * active or waits is left alone, but woken if its answers are complete, so calling it twice is
   * harmless.
   *
   * @throws HelixError `not_found`, `not_resumable` when the run has ended for good, `stale_run`
   * when another run is the newest, `agent_already_running`, `agent_mismatch` and `message_conflict`
   * for a new message
   */
  resume: (input: ResumeInput) => Promise<ResumeResult>;
  /**
   * Repeats a turn: its user messages stay, or are replaced from one of them on; its replies and
   * everything after it are dropped for good. With a checkpoint it continues after that one, as
   * `resume` does in mode `from_checkpoint`. A run that waits for people, or that `stops` names, is
   * stopped first, unless the request is refused for another reason.
   *
   * @throws HelixError `agent_already_running` while a run is active, `stale_run` when another
   * request was faster, `message_conflict` for a message that stays, `not_found`,
   * `checkpoint_not_found`, `message_not_found`
   */
  retry: (input: RetryInput) => Promise<RunRecord>;
  /**
   * Copies a conversation into a new, idle one of the same owner; the source is not changed.
   *
   * @throws HelixError `session_exists`, `not_found`, `checkpoint_not_found`, `message_not_found`,
   * `nothing_to_do` for an empty one
   */
  branch: (input: BranchInput) => Promise<{ sessionId: string }>;
  /**
   * Begins an idle conversation with a transcript that was made elsewhere.
   *
   * @returns false if a conversation of that id exists
   * @throws HelixError `validation_error` for the id, `quota_exceeded`
   */
  adopt: (input: AdoptInput) => Promise<boolean>;
  /**
   * Copies a conversation up to a step of one of its runs, and continues the copy from there.
   *
   * @throws HelixError what `branch` and `resume` throw; a copy that may not run is erased again
   */
  fork: (input: ForkInput) => Promise<{ sessionId: string; runId: string }>;
  canResume: (sessionId: string) => Promise<Resumability>;
  /** Repairs a session: starts, wakes, stops or ends its run if that was missed. */
  sweepSession: (sessionId: string, budget?: SweepBudget) => Promise<SweptSession>;
}

export interface Resumability {
  canResume: boolean;
  /** Reason why not; `waiting` is for an answer. */
  reason?: 'not_found' | 'running' | 'waiting' | 'completed' | 'failed' | 'aborted';
  /** Modes in which a run could begin now. */
  modes: Extract<
    RunMode,
    'continue' | 'with_confirmation' | 'with_message' | 'from_checkpoint' | 'retry'
  >[];
}

export interface ResumeInput extends Actor {
  sessionId: string;
  /** Default `continue`. `with_confirmation` is the same, and records who confirmed. */
  mode?: Extract<RunMode, 'continue' | 'with_confirmation' | 'with_message' | 'from_checkpoint'>;
  /** For `from_checkpoint`: everything after it is dropped for good. */
  checkpointId?: string;
  /** The run to be continued. Default: the newest. */
  runId?: string;
  /** For `with_message`: the messages of the new turn. */
  messages?: UserMessage[];
  reason?: string | undefined;
}

export interface BranchInput extends Actor {
  sessionId: string;
  /** The copy ends with the results of this step. Default: the whole conversation. */
  checkpointId?: string;
  /** The copy ends with this message, by its index in the conversation as people see it, from 0. */
  messageIndex?: number;
  /** Id of the new session. Default: one is made. */
  newSessionId?: string;
  meter?: ReadMeter | undefined;
}

export interface AdoptInput {
  sessionId: string;
  agent: string;
  owner: string;
  /** The transcript; every call in it has a result. */
  rows: Row[];
}

export interface ForkInput extends Actor {
  sessionId: string;
  /** The copy ends with the results of this step of the run's turn; 0: before its first step. */
  runId: string;
  step: number;
  newSessionId: string;
  /** Idempotency key: a repeated request finds the copy that it made. */
  key?: string | undefined;
  reason?: string | undefined;
  meter?: ReadMeter | undefined;
}

export interface RetryInput extends Actor {
  sessionId: string;
  /** Checkpoint to continue after, instead of repeating the whole turn. */
  checkpointId?: string;
  /** A message of the turn, the user's or the agent's. Default: the newest turn. */
  messageId?: string;
  /** Replaces that message, which must be a user's, and all that follow it. */
  messages?: UserMessage[];
  /** The run to repeat; refused if another one is the newest. Default: the newest. */
  runId?: string;
  /** An active run that is given up for this one. */
  stops?: string | undefined;
  reason?: string | undefined;
}

export type ResumeResult =
  | { kind: 'resumed'; run: RunRecord }
  /** Nothing to do: this run is active or waits, or the messages were accepted before. */
  | { kind: 'active'; runId: string };

export type ExecuteInput = Omit<BeginInput, 'nonce' | 'now'>;
