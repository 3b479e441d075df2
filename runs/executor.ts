import { randomUUID } from 'node:crypto';
import type { AgentDefinition, AgentRegistry } from '../agents/index.js';
import type { ToolAnswerInput } from '../protocol/answers.js';
import { HelixError } from '../protocol/errors.js';
import type { OperatorWorkers } from '../protocol/operator.js';
import { StartAt } from '../protocol/http.js';
import { ANONYMOUS } from '../protocol/ids.js';
import type { CustomState } from '../store/contract/documents.js';
import type { RunInfo, StopResult } from '../store/contract/runs.js';
import { dataOf, onData } from '../store/contract/shared-data.js';
import type { Store } from '../store/contract/store.js';
import type { StreamManager } from '../store/log/stream-manager.js';
import { toStoredSessionId } from '../store/record/stored-session-id.js';
import { readInput, readState, type AgentInput } from './agent-input.js';
import type { AnswerOptions } from './record/answers.js';
import { toRefusal, runOfMessage, requireStoredId } from './refusals.js';
import { resumeSession, type ResumeOptions } from './reruns.js';
import {
  createRunHandle,
  submitAnswer,
  type AnswerReceipt,
  type RunHandle,
  type StopReason,
} from './run-handle.js';
import type { RetryInput, Runs } from './runs.js';

export interface ExecuteOptions {
  /** Default: a new session. */
  sessionId?: string;
  /** The session's owner. Default `anonymous`. */
  userId?: string;
  tenantId?: string;
  /** Default metadata of messages. */
  metadata?: Record<string, unknown>;
  /** The session's state from now on, in the shape of the agent's state schema. */
  state?: CustomState;
  /** Id for a plain text; a request repeated with it refers to the same run. */
  messageId?: string;
  /**
   * Start time: ms since the epoch, or ISO 8601 with an offset from UTC, at most a year ahead.
   * Default: now.
   */
  startAt?: StartAt | Date;
}

/**
 * Runs agents. Every method throws HelixError: `unavailable` when the store cannot be reached, and the
 * codes named below.
 */
export interface AgentExecutor extends Pick<Runs, 'branch' | 'canResume'> {
  /**
   * Begins a run, which is started in the background. An agent passed as a definition must be known
   * under the same name where runs are executed: to the workers of Temporal.
   *
   * @throws AgentAlreadyRunningError while a run of this session is active; HelixError
   * `validation_error`, `message_too_large`, `message_conflict`, `agent_mismatch`, `not_found` for
   * another owner's session; AgentNotFoundError
   */
  execute: (
    agent: AgentDefinition | string,
    input: AgentInput,
    options?: ExecuteOptions,
  ) => Promise<RunHandle>;
  /** Returns a run of the session, the newest by default; null if it does not exist. */
  getHandle: (sessionId: string, runId?: string) => Promise<RunHandle | null>;
  /** Resumes as a handle does; `runId`, if present, must be the session's newest run. */
  resume: (options: ResumeOptions & { sessionId: string; runId?: string }) => Promise<RunHandle>;
  /**
   * Repeats a turn, the newest unless a message of another one is named, or goes back to a
   * checkpoint. Everything after that is dropped for good.
   *
   * @throws HelixError `agent_already_running`, `stale_run`, `not_found`, `checkpoint_not_found`,
   * `message_not_found`
   */
  retry: (options: RetryInput) => Promise<RunHandle>;
  /** Answers as a handle does. `responder` defaults to the `by` of the answer, without roles. */
  submitToolResult: (
    answer: ToolAnswerInput,
    options?: Pick<AnswerOptions, 'responder'>,
  ) => Promise<AnswerReceipt>;
  /** Stops the session's run; it can be resumed. */
  interrupt: (sessionId: string, reason?: StopReason) => Promise<StopResult>;
  /** Stops the session's run for good. */
  abort: (sessionId: string, reason?: StopReason) => Promise<StopResult>;
  /** Stops the session's run and erases the session. */
  deleteSession: (sessionId: string) => Promise<void>;
  /** Null if there is no such session. */
  getCurrentRun: (sessionId: string) => Promise<RunInfo | null>;
  /** Oldest first. @throws HelixError `not_found` */
  listRuns: (sessionId: string) => Promise<RunInfo[]>;
  /** The runs behind the handles, for `createApi`, `handleChatStream` and `buildSnapshot`. */
  readonly runs: Runs;
  readonly namespace: string;
  /** Checks that resolve if their part answers: Temporal, and a worker on the task queue. */
  readonly checks: Readonly<Record<string, () => Promise<void>>>;
  /** The workers of the task queue. @throws HelixError `unavailable` */
  readonly readWorkers?: () => Promise<OperatorWorkers>;
}

export function createExecutor(deps: {
  runs: Runs;
  agents: AgentRegistry;
  store: Store;
  streamManager: StreamManager;
  namespace?: string;
  checks?: AgentExecutor['checks'];
  readWorkers?: AgentExecutor['readWorkers'];
  /** Aborts when this process carries out no more runs. */
  closed?: AbortSignal;
}): AgentExecutor {
  const { runs, agents, store, namespace = 'default', checks = {} } = deps;
  const handleOf = (sessionId: string, runId: string): RunHandle =>
    createRunHandle(deps, sessionId, runId);

  const executor: AgentExecutor = {
    runs,
    namespace,
    checks,
    readWorkers: deps.readWorkers,
    execute: async (requested, input, options = {}) => {
      const { userId = ANONYMOUS, tenantId } = options;
      const asked = options.sessionId ?? `s-${randomUUID()}`;
      // Callers that read the record pass the stored id.
      const sessionId = asked.includes('~') ? asked : toStoredSessionId(asked, tenantId);
      const agent =
        typeof requested === 'string'
          ? agents.resolve(requested, { sessionId, userId, tenantId })
          : requested;
      if (typeof requested !== 'string') agents.register(requested);
      requireStoredId(sessionId);
      const { messages, state = options.state } = readInput(input, options);
      const startAt = readStart(options.startAt);
      const result = await runs.execute({
        sessionId,
        agent: agent.name,
        owner: userId,
        tenant: tenantId,
        messages,
        state: state === undefined ? undefined : readState(agent, state),
        startAt,
      });
      if (result.kind === 'begun') return handleOf(sessionId, result.run.runId);
      if (result.kind !== 'accepted') throw toRefusal(sessionId, result);
      return handleOf(sessionId, await runOfMessage(store, sessionId, messages.at(-1)?.id ?? ''));
    },
    getHandle: async (sessionId, runId) => {
      const record = await store.sessions.read(sessionId);
      if (record === undefined) return null;
      if (runId === undefined || runId === record.runId) return handleOf(sessionId, record.runId);
      const run = await store.runs.read(sessionId, runId);
      return run === null ? null : handleOf(sessionId, runId);
    },
    resume: async (options) => handleOf(options.sessionId, await resumeSession(runs, options)),
    canResume: runs.canResume,
    retry: async (options) => handleOf(options.sessionId, (await runs.retry(options)).runId),
    branch: runs.branch,
    submitToolResult: (answer, options) => submitAnswer(runs, answer, options),
    interrupt: (sessionId, reason) => runs.stop(sessionId, { ...reason, mode: 'interrupt' }),
    deleteSession: async (sessionId) => {
      await runs.deleteSession(sessionId);
    },
    abort: (sessionId, reason) => runs.stop(sessionId, { ...reason, mode: 'abort' }),
    getCurrentRun: async (sessionId) => {
      const record = await store.sessions.read(sessionId);
      return record === undefined ? null : store.runs.current(sessionId);
    },
    listRuns: (sessionId) => store.runs.list(sessionId),
  };
  return onData(executor, dataOf(store));
}

function readStart(startAt: ExecuteOptions['startAt']): number | undefined {
  if (startAt === undefined) return undefined;
  const { data, error } = StartAt.safeParse(startAt instanceof Date ? startAt.getTime() : startAt);
  if (error === undefined) return data;
  const text =
    'startAt must be a time in ms since 1970 or ISO 8601 with an offset, at most a day ago and a year ahead.';
  throw new HelixError('validation_error', text, { cause: error });
}
