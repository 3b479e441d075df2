import { toAnswerError, type ToolAnswerInput } from '../protocol/answers.js';
import { HelixError } from '../protocol/errors.js';
import type { StopResult } from '../stores/contract/runs.js';
import type { Store } from '../stores/contract/store.js';
import type { StreamManager } from '../stores/log/stream-manager.js';
import type { AgentExecutor } from './agent-executor.js';
import { readEndedResult, readSuspendedResult, type AgentResult } from './agent-result.js';
import { awaitRest } from './await-rest.js';
import { resumeSession, type ResumeOptions } from './resume-options.js';
import { readRunChunks, type RunStream } from './run-chunks.js';

/** Who stops a run, and why; for the record. */
export interface StopReason {
  reason?: string;
  by?: string;
}

/** An answer to a call of this session. */
export type ToolAnswer = DistributiveOmit<ToolAnswerInput, 'sessionId'>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** What became of an answer that was taken. */
export interface AnswerReceipt {
  sequence: number;
  /** True if it was the last one that the run waited for: it goes on by itself. */
  resumed: boolean;
}

/**
 * One run, from any process: a handle holds ids only. Methods throw HelixError `not_found` once the
 * session is erased, `unavailable` while Redis or Temporal cannot be reached.
 */
export interface RunHandle {
  readonly sessionId: string;
  readonly runId: string;
  /** Chunks after `fromSequence` (default: the run's beginning), then live; ends at a pause or end. */
  stream: (options?: { fromSequence?: number; signal?: AbortSignal }) => RunStream;
  /** Resolves when the run ends or waits, at once if it does already. An outage of 30 s is waited out. */
  result: (options?: { signal?: AbortSignal }) => Promise<AgentResult>;
  /**
   * Takes the run up again: goes on where it was interrupted, or with a message in a new turn. A run
   * that is at work or waits is left alone, so it may be asked for twice.
   *
   * @returns the run that goes on, also if somebody else has taken it up
   * @throws HelixError `not_resumable` when it has ended for good, `stale_run` when another run is
   * the session's newest, `agent_already_running`, `message_conflict`, `checkpoint_not_found`
   */
  resume: (options?: ResumeOptions) => Promise<RunHandle>;
  /** Stops the run; it can be resumed. Nothing happens if it has ended. */
  interrupt: (why?: StopReason) => Promise<StopResult>;
  /** Stops the run for good: it counts as failed, with code `framework_cancelled`. */
  abort: (why?: StopReason) => Promise<StopResult>;
  /**
   * @throws HelixError `already_completed`, `not_pending`, `kind_mismatch`, `stale_run`, `expired`,
   * `late_answer_after_timeout`; `validation_error`, `answer_too_large`, `invalid_result`,
   * `invalid_input`: then the call still waits
   */
  submitToolResult: (answer: ToolAnswer) => Promise<AnswerReceipt>;
}

export interface HandleDeps {
  store: Store;
  streamManager: StreamManager;
  runs: AgentExecutor;
}

export function createRunHandle(deps: HandleDeps, sessionId: string, runId: string): RunHandle {
  const { store, runs } = deps;
  const stop = (mode: 'interrupt' | 'abort', why: StopReason = {}): Promise<StopResult> =>
    runs.stop(sessionId, { ...why, mode, runId });

  return {
    sessionId,
    runId,
    stream: (options = {}) => readRunChunks(deps, sessionId, runId, options),
    // A signal of its own: listeners of many calls on one would be taken for a leak.
    result: async ({ signal = new AbortController().signal } = {}) => {
      const rest = await awaitRest(deps, sessionId, runId, signal);
      if (rest.kind === 'suspended') {
        return readSuspendedResult(store, sessionId, runId, rest.marker);
      }
      const result = await readEndedResult(store, sessionId, runId);
      if (result === undefined) throw new HelixError('not_found', 'There is no such run.');
      return result;
    },
    resume: async (options = {}) =>
      createRunHandle(deps, sessionId, await resumeSession(runs, { ...options, sessionId, runId })),
    interrupt: (why) => stop('interrupt', why),
    abort: (why) => stop('abort', why),
    submitToolResult: (answer) => submitAnswer(runs, { ...answer, sessionId }),
  };
}

/** @throws HelixError if the answer is not taken */
export async function submitAnswer(
  runs: AgentExecutor,
  answer: ToolAnswerInput,
): Promise<AnswerReceipt> {
  const result = await runs.submitToolResult(answer);
  if (result.kind !== 'stored') throw toAnswerError(result.kind);
  return { sequence: result.sequence, resumed: result.resume !== undefined };
}
