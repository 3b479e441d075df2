import type { RunMode, StopRequest } from '../protocol/run.js';
import type {
  BeginInput,
  BeginResult,
  RunRecord,
  StopResult,
  UserMessage,
} from '../stores/contract/runs.js';
import type { Answers } from './answers.js';
import type { Resumability } from './can-resume.js';

/**
 * What the HTTP side asks of the runtime. Every method throws HelixError `unavailable` when Redis
 * cannot be reached. Temporal may be away: runs are begun, answered and stopped in Redis, and their
 * workflows are started and told beside it, by the sweeper if that fails.
 */
export interface AgentExecutor extends Answers {
  /** Accepts user messages; the workflow of the run made for them is started beside it. */
  execute: (input: ExecuteInput) => Promise<BeginResult>;
  /** Stops the session's run; resolves as soon as the stop is recorded. */
  stop: (sessionId: string, stop: StopRequest & { runId?: string }) => Promise<StopResult>;
  /**
   * Goes on where the newest run was interrupted, or failed in a way that may pass. A run that is at
   * work or waits is left alone, and woken if answers to it were given; so it may be asked for twice.
   *
   * @throws HelixError `not_found`, `not_resumable` when the run has ended for good, `stale_run`
   * when another run is the newest, `agent_already_running` and `message_conflict` for a new message
   */
  resume: (input: ResumeInput) => Promise<ResumeResult>;
  /**
   * Does a turn again: its user messages stay, or are replaced from one of them on; its replies and
   * everything after it are dropped for good. With a checkpoint it goes on behind that one, as
   * `resume` does in mode `from_checkpoint`. A run that waits for people is stopped for it.
   *
   * @throws HelixError `agent_already_running` while a run is at work, `stale_run` when somebody else
   * was quicker, `message_conflict` for a message that stays, `not_found`, `checkpoint_not_found`,
   * `message_not_found`
   */
  retry: (input: RetryInput) => Promise<RunRecord>;
  /**
   * Copies a conversation into a new one of the same owner, which rests; the source is not touched.
   *
   * @throws HelixError `session_exists`, `not_found`, `checkpoint_not_found`, `message_not_found`,
   * `nothing_to_do` for an empty one
   */
  branch: (input: BranchInput) => Promise<{ sessionId: string }>;
  /**
   * Stops what runs in the session, and erases it with its stream. Harmless when there is none.
   *
   * @throws HelixError `unavailable` if a run that is at work or waits cannot be told; nothing is
   * erased then
   */
  deleteSession: (sessionId: string, by?: string) => Promise<void>;
  /** Whether `resume` would go on, and how. */
  canResume: (sessionId: string) => Promise<Resumability>;
}

export interface ResumeInput {
  sessionId: string;
  /** Default `continue`. `with_confirmation` is the same, and kept on record with who confirmed. */
  mode?: Extract<RunMode, 'continue' | 'with_confirmation' | 'with_message' | 'from_checkpoint'>;
  /** For `from_checkpoint`: everything after it is dropped for good. */
  checkpointId?: string;
  /** The run that is to be continued. Default: the newest. */
  runId?: string;
  /** For `with_message`: they begin a new turn. */
  messages?: UserMessage[];
  /** Who asked, for the record. */
  by?: string;
}

export interface BranchInput {
  sessionId: string;
  /** The copy ends with the results of this step. Default: with everything there is. */
  checkpointId?: string;
  /** The copy ends with this message, by its index in the conversation as people see it, from 0. */
  messageIndex?: number;
  /** Id of the new session. Default: one is made. */
  newSessionId?: string;
  /** Who asked, for the record. */
  by?: string;
}

export interface RetryInput {
  sessionId: string;
  /** Goes on behind this one instead of doing the whole turn again. */
  checkpointId?: string;
  /** A message of the turn, the user's or the agent's. Default: the newest turn. */
  messageId?: string;
  /** In place of that message, which must be a user's, and of all that follows it. */
  messages?: UserMessage[];
  /** Who asked, for the record. */
  by?: string;
}

export type ResumeResult =
  | { kind: 'resumed'; run: RunRecord }
  /** Nothing had to be done: this run is at work or waits, or the messages were accepted before. */
  | { kind: 'active'; runId: string };

export type ExecuteInput = Omit<BeginInput, 'nonce' | 'now'>;
