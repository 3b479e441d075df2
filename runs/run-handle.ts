import { toAnswerError, type ToolAnswerInput } from '../protocol/answers.js';
import type { StreamChunk } from '../protocol/chunk.js';
import { HelixError } from '../protocol/errors.js';
import type { StreamStatus } from '../protocol/run.js';
import type { ShownCall } from '../protocol/shown-call.js';
import type { StopResult } from '../store/contract/runs.js';
import type { Store } from '../store/contract/store.js';
import type { StoredChunk, StreamManager } from '../store/log/stream-manager.js';
import { readChunks } from '../store/log/stream-reader.js';
import type { AnswerOptions } from './record/answers.js';
import { resumeSession, type ResumeOptions } from './reruns.js';
import {
  awaitStandstill,
  readEndedResult,
  readSuspendedResult,
  type AgentResult,
} from './run-result.js';
import type { Runs } from './runs.js';

export interface StopReason {
  reason?: string;
  by?: string;
}

export type ToolAnswer = DistributiveOmit<ToolAnswerInput, 'sessionId'>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export interface Approval extends ShownCall {
  /** Replaces the input that the model proposed. */
  input?: unknown;
  reason?: string;
  /** The person who decides, for the record. */
  by?: string;
}

export type ClientToolOutcome = (
  { result: unknown; error?: never } | { error: string; result?: never }
) & {
  /** The person or program that answers, for the record. */
  by?: string;
} & ShownCall;

export interface AnswerReceipt {
  sequence: number;
  /** True if it was the last answer that the run waited for, so that the run continues. */
  resumed: boolean;
  /** True if the changed input waits for another person, so that nothing is decided yet. */
  edited?: true;
}

export interface RunStream extends AsyncIterable<StreamChunk> {
  /** Sequence of the last chunk, from which to continue after a broken connection. */
  readonly currentSequence: number;
  /** Status at the end of the stream, `active` before. */
  readonly status: StreamStatus;
}

/**
 * One run, from any process. Methods throw HelixError `not_found` once the session is erased,
 * `unavailable` while Redis or Temporal cannot be reached.
 */
export interface RunHandle {
  readonly sessionId: string;
  readonly runId: string;
  /** Chunks after `fromSequence` (default: the run's beginning), then live; ends at a pause or an end. */
  stream: (options?: { fromSequence?: number; signal?: AbortSignal }) => RunStream;
  /**
   * Resolves once the run has ended or waits. Retries for 30 s while Redis is away. Rejects when an
   * in-process executor is closed, which leaves the run to `recover`.
   */
  result: (options?: { signal?: AbortSignal }) => Promise<AgentResult>;
  /**
   * Resumes the run where it was interrupted, or with a message in a new turn. An active or waiting
   * run is left alone, so calling it twice is harmless.
   *
   * @returns the run that continues, also if another caller has resumed it
   * @throws HelixError `not_resumable` when it has ended for good, `stale_run` when another run is
   * the session's newest, `agent_already_running`, `message_conflict`, `checkpoint_not_found`
   */
  resume: (options?: ResumeOptions) => Promise<RunHandle>;
  /** Stops the run, which can be resumed. Does nothing if it has ended. */
  interrupt: (reason?: StopReason) => Promise<StopResult>;
  /** Stops the run for good; it counts as failed, with code `framework_cancelled`. */
  abort: (reason?: StopReason) => Promise<StopResult>;
  /**
   * @throws HelixError `already_completed`, `not_pending`, `kind_mismatch`, `stale_run`, `expired`,
   * `late_answer_after_timeout`; `validation_error`, `answer_too_large`, `invalid_result`,
   * `invalid_input`, `not_allowed`: then the call still waits
   */
  submitToolResult: (
    answer: ToolAnswer,
    options?: Pick<AnswerOptions, 'responder' | 'isPosted'>,
  ) => Promise<AnswerReceipt>;
  /**
   * Approves a call of `result.pending`; if it has approvers, with its `approvalId` and
   * `inputHash`. Throws as `submitToolResult` does; so do the next two.
   */
  approve: (toolCallId: string, approval?: Approval) => Promise<AnswerReceipt>;
  /** Denies a call and gives the model the reason. */
  deny: (toolCallId: string, denial?: Omit<Approval, 'input'>) => Promise<AnswerReceipt>;
  /** Answers a call of a client tool with its result, or with an error. */
  answer: (toolCallId: string, outcome: ClientToolOutcome) => Promise<AnswerReceipt>;
}

export interface HandleDeps {
  store: Store;
  streamManager: StreamManager;
  runs: Runs;
  closed?: AbortSignal | undefined;
}

export function createRunHandle(deps: HandleDeps, sessionId: string, runId: string): RunHandle {
  const { store, runs } = deps;
  const stop = (mode: 'interrupt' | 'abort', reason?: StopReason): Promise<StopResult> =>
    runs.stop(sessionId, { ...reason, mode, runId });

  const submit = (
    answer: ToolAnswer,
    options?: Pick<AnswerOptions, 'responder' | 'isPosted'>,
  ): Promise<AnswerReceipt> => submitAnswer(runs, { ...answer, sessionId }, options);
  const decide = (toolCallId: string, approved: boolean, approval?: Approval) =>
    submit({ ...approval, kind: 'approval-response', toolCallId, approved });

  return {
    sessionId,
    runId,
    stream: (options = {}) => readRunChunks(deps, sessionId, runId, options),
    // Each call has its own signal: many listeners on one signal look like a leak to Node.
    result: async ({ signal = new AbortController().signal } = {}) => {
      const found = await awaitStandstill(deps, sessionId, runId, signal);
      if (found.kind === 'suspended') {
        return readSuspendedResult(store, sessionId, runId, found.marker);
      }
      const result = await readEndedResult(store, sessionId, runId);
      if (result === undefined) throw new HelixError('not_found', 'There is no such run.');
      return result;
    },
    resume: async (options = {}) =>
      createRunHandle(deps, sessionId, await resumeSession(runs, { ...options, sessionId, runId })),
    interrupt: (reason) => stop('interrupt', reason),
    abort: (reason) => stop('abort', reason),
    submitToolResult: submit,
    approve: (toolCallId, approval) => decide(toolCallId, true, approval),
    deny: (toolCallId, denial) => decide(toolCallId, false, denial),
    answer: (toolCallId, outcome) => submit({ ...outcome, toolCallId }),
  };
}

export async function submitAnswer(
  runs: Pick<Runs, 'submitToolResult'>,
  answer: ToolAnswerInput,
  options?: Pick<AnswerOptions, 'responder' | 'isPosted'>,
): Promise<AnswerReceipt> {
  const result = await runs.submitToolResult(answer, options);
  if (result.kind === 'edited') return { sequence: result.sequence, resumed: false, edited: true };
  if (result.kind !== 'stored') throw toAnswerError(result.kind);
  return { sequence: result.sequence, resumed: result.resume !== undefined };
}

function readRunChunks(
  deps: HandleDeps,
  sessionId: string,
  runId: string,
  { fromSequence = 0, signal }: { fromSequence?: number; signal?: AbortSignal },
): RunStream {
  let currentSequence = fromSequence;
  let status: StreamStatus = 'active';

  async function* chunks(): AsyncGenerator<StreamChunk, void, undefined> {
    const span = await findSpan(deps.store, sessionId, runId);
    currentSequence = Math.max(fromSequence, span.after);
    const reader = await deps.streamManager.createResumableReader(sessionId, {
      fromSequence: currentSequence,
      signal,
    });
    const source = reader ?? failedChunks(deps.streamManager, sessionId, currentSequence);
    for await (const { chunk, sequence } of source) {
      // Later chunks are another run's.
      if (span.until !== undefined && sequence > span.until) break;
      currentSequence = sequence;
      yield chunk;
    }
    status = reader === null ? 'failed' : span.until === undefined ? reader.status : 'ended';
  }

  return {
    get currentSequence() {
      return currentSequence;
    },
    get status() {
      return status;
    },
    [Symbol.asyncIterator]: chunks,
  };
}

/** Finds the sequence before a run's chunks and, if another run follows, their last one. */
async function findSpan(
  store: Store,
  sessionId: string,
  runId: string,
): Promise<{ after: number; until?: number }> {
  const runs = await store.runs.list(sessionId);
  const at = runs.findIndex((run) => run.runId === runId);
  const run = runs[at];
  if (run === undefined) throw new HelixError('not_found', 'There is no such run.');
  const next = runs.slice(at + 1).find(({ startSequence }) => startSequence > run.startSequence);
  return { after: run.startSequence, until: next?.startSequence };
}

/** Reads the chunks of a failed stream, which has no reader. */
async function* failedChunks(
  streamManager: StreamManager,
  streamId: string,
  fromSequence: number,
): AsyncGenerator<StoredChunk> {
  const info = await streamManager.getStreamInfo(streamId);
  if (info === null) throw new HelixError('not_found', 'There is no such stream.');
  yield* readChunks(streamManager, streamId, fromSequence);
}
