import { randomUUID } from 'node:crypto';
import {
  Client,
  type ClientOptions,
  type Connection,
  type ConnectionLike,
} from '@temporalio/client';
import { AgentRegistry, type AgentDefinition } from '../agents/index.js';
import type { ToolAnswerInput } from '../protocol/answers.js';
import { HelixError } from '../protocol/errors.js';
import type { HealthFacts } from '../protocol/health.js';
import type { RunMeter } from '../protocol/run-meter.js';
import type { Tracer } from '../protocol/tracer.js';
import { ANONYMOUS, isStoredSessionId } from '../protocol/ids.js';
import { DEFAULT_TASK_QUEUE } from '../protocol/temporal-names.js';
import type { CustomState } from '../stores/contract/custom-state.js';
import type { RunInfo, StopResult } from '../stores/contract/runs.js';
import type { Store } from '../stores/contract/store.js';
import type { StreamManager } from '../stores/log/stream-manager.js';
import type { AnswerOptions } from './answers.js';
import { readInput, readState, type AgentInput } from './agent-input.js';
import { toBeginRefusal } from './begin-refusal.js';
import { createBatches } from './batches.js';
import { createRuns } from './create-runs.js';
import type { Budgets } from './budgets.js';
import type { Quotas } from './quotas.js';
import { resumeSession, type ResumeOptions } from './reruns.js';
import {
  createRunHandle,
  submitAnswer,
  type AnswerReceipt,
  type RunHandle,
  type StopReason,
} from './run-handle.js';
import { createHealthFacts } from './health-facts.js';
import { createRunList } from './run-list.js';
import { createRunWorkflows } from './run-workflows.js';
import type { BranchInput, Resumability, RetryInput, Runs } from './runs.js';
import { registerSearchAttributes } from './search-attributes.js';
import { createTemporalChecks } from './worker-check.js';

export interface ExecuteOptions {
  /** Default: a new session. */
  sessionId?: string;
  /** The session's owner. Default `anonymous`. */
  userId?: string;
  tenantId?: string;
  /** For messages without metadata of their own. */
  metadata?: Record<string, unknown>;
  /** The session's state from now on, in the shape of the agent's state schema. */
  state?: CustomState;
  /** Id for an input that is a plain text: sent again with the same id, it is the same run. */
  messageId?: string;
}

/**
 * Runs agents on Temporal. Every method throws HelixError: `unavailable` when Redis cannot be reached,
 * and the codes named below. While Temporal is away runs are begun nevertheless; workers start them.
 */
export interface TemporalAgentExecutor {
  /**
   * Begins a run; its workflow is started in the background, by a worker if this process exits first.
   * An agent passed as a definition must be known to the workers under the same name.
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
  /** A run of the session, the newest by default; null if it does not exist. */
  getHandle: (sessionId: string, runId?: string) => Promise<RunHandle | null>;
  /** As the handle's, for the session's newest run; `runId`, if present, must name that run. */
  resume: (options: ResumeOptions & { sessionId: string; runId?: string }) => Promise<RunHandle>;
  /** Whether `resume` would continue, and in which modes. */
  canResume: (sessionId: string) => Promise<Resumability>;
  /**
   * Repeats a turn, the newest unless a message of another one is named, or goes back to a
   * checkpoint. What came later is dropped for good.
   *
   * @throws HelixError `agent_already_running`, `stale_run`, `not_found`, `checkpoint_not_found`,
   * `message_not_found`
   */
  retry: (options: RetryInput) => Promise<RunHandle>;
  /**
   * Copies a session, up to a checkpoint or a message, into a new one of the same owner.
   *
   * @throws HelixError `session_exists`, `not_found`, `checkpoint_not_found`, `message_not_found`,
   * `nothing_to_do` for an empty one
   */
  branch: (options: BranchInput) => Promise<{ sessionId: string }>;
  /** As the handle's. `responder`: the person who answers; default: the `by` of the answer, without roles. */
  submitToolResult: (
    answer: ToolAnswerInput,
    options?: Pick<AnswerOptions, 'responder'>,
  ) => Promise<AnswerReceipt>;
  /** Stops the session's run; it can be resumed. */
  interrupt: (sessionId: string, reason?: StopReason) => Promise<StopResult>;
  /** Stops it for good. */
  abort: (sessionId: string, reason?: StopReason) => Promise<StopResult>;
  /** Stops the session's run and erases the session. */
  deleteSession: (sessionId: string) => Promise<void>;
  /** Null if there is no such session. */
  getCurrentRun: (sessionId: string) => Promise<RunInfo | null>;
  /** Oldest first. @throws HelixError `not_found` */
  listRuns: (sessionId: string) => Promise<RunInfo[]>;
  /** The runs below the handles: `createApi`, `handleChatStream` and `buildSnapshot` use them. */
  readonly runs: Runs;
  readonly namespace: string;
  /** Each resolves when its part answers: Temporal, and a worker on the task queue. */
  readonly checks: Readonly<Record<string, () => Promise<void>>>;
  /** What the health of the service is judged by, over the last so many ms. */
  readonly readHealth?: (periodMs: number) => Promise<HealthFacts>;
}

export type ExecutorOptions = ExecutorSettings & (OwnClient | ReadyClient);

type ExecutorConnection = ConnectionLike & Pick<Connection, 'operatorService' | 'withDeadline'>;

interface OwnClient {
  connection: ExecutorConnection;
  /** Default `default`. */
  namespace?: string;
  /** As for a `Client` of Temporal; the workers need the same, see `createPayloadCodec`. */
  dataConverter?: ClientOptions['dataConverter'];
  interceptors?: ClientOptions['interceptors'];
  client?: undefined;
}

interface ReadyClient {
  /** A client that the program has, with its connection, namespace, converter and interceptors. */
  client: Client & { connection: ConnectionLike };
  connection?: undefined;
  namespace?: undefined;
  dataConverter?: undefined;
  interceptors?: undefined;
}

interface ExecutorSettings {
  /** Where the workers listen. Default `agent-runs`. */
  taskQueue?: string;
  /** The agents by name. This process executes neither models nor tools; workers do. */
  agents: AgentRegistry | readonly AgentDefinition[];
  stores: { store: Store; streamManager: StreamManager };
  /** For operators: the name of the runs' model, and the page that shows a conversation. */
  modelName?: string;
  sessionUrl?: (sessionId: string) => string;
  /**
   * Limits of users and tenants, see `toQuotas`; `execute`, `resume`, `retry` and `branch` throw
   * `quota_exceeded` beyond them. Default: 20 active runs, 10 queued messages, 1,000 sessions and
   * 256 MB for each user, 50 times that for each tenant; no limits where no user is named.
   */
  quotas?: Quotas | 'unlimited';
  /** What users and tenants may spend, see `Budgets`. Default: no limit. */
  budgets?: Budgets;
  /** Counts what this process does to runs, see `RunEvent`. Default: nothing. */
  meter?: RunMeter;
  /** Traces what this process does to runs, see `createTracing`. Default: none. */
  tracer?: Tracer;
  /** Default: silence. */
  logger?: { warn: (fields: object, message: string) => void };
}

const SILENT = { warn: () => undefined };

/**
 * Connects agents, stores and Temporal. The caller closes connection and stores.
 *
 * @example
 * import { Connection } from '@temporalio/client';
 * import { defineAgent } from 'helix-temporal';
 * import { createAgentExecutor } from 'helix-temporal/executor';
 * import { createRedisStores } from 'helix-temporal/store-redis';
 *
 * const executor = await createAgentExecutor({
 *   connection: await Connection.connect(),
 *   agents: [
 *     defineAgent({ name: 'guide', systemPrompt: 'Be brief.', llmConfig: { model: 'openai/gpt-5' } }),
 *   ],
 *   stores: createRedisStores({ url: 'redis://localhost:6379' }),
 * });
 * const handle = await executor.execute('guide', 'What is there to see in Rome?');
 * const result = await handle.result();
 */
export async function createAgentExecutor(
  options: ExecutorOptions,
): Promise<TemporalAgentExecutor> {
  const { taskQueue = DEFAULT_TASK_QUEUE, stores, logger = SILENT } = options;
  const agents =
    options.agents instanceof AgentRegistry ? options.agents : new AgentRegistry(options.agents);
  const client = options.client ?? newClient(options);
  const { namespace } = client.options;
  const connection = client.connection as ExecutorConnection;
  const workflows = createRunWorkflows(client, taskQueue, stores.store, options.tracer);
  const runs = createRuns({
    store: stores.store,
    streamManager: stores.streamManager,
    workflows,
    ...{ runList: createRunList(client, taskQueue), batches: createBatches(client, taskQueue) },
    agents,
    searchAttributes: await registerSearchAttributes(connection, namespace, logger),
    ...{ modelName: options.modelName, sessionUrl: options.sessionUrl },
    ...{ quotas: options.quotas, budgets: options.budgets },
    ...{ meter: options.meter, tracer: options.tracer },
    logger,
  });
  const checks = createTemporalChecks(client, namespace, taskQueue);
  const readHealth = createHealthFacts({
    ...{ client, namespace, taskQueue },
    store: { ...stores.store, due: stores.store.due.of(workflows.fleet) },
  });
  return createExecutorOf({ runs, agents, namespace, checks, readHealth, ...stores });
}

function newClient({ connection, namespace, dataConverter, interceptors }: OwnClient): Client {
  return new Client({ connection, namespace, dataConverter, interceptors });
}

/** The executor over given runs. */
export function createExecutorOf(deps: {
  runs: Runs;
  agents: AgentRegistry;
  store: Store;
  streamManager: StreamManager;
  namespace?: string;
  checks?: TemporalAgentExecutor['checks'];
  readHealth?: TemporalAgentExecutor['readHealth'];
}): TemporalAgentExecutor {
  const { runs, agents, store, namespace = 'default', checks = {} } = deps;
  const handleOf = (sessionId: string, runId: string): RunHandle =>
    createRunHandle(deps, sessionId, runId);

  return {
    runs,
    namespace,
    checks,
    readHealth: deps.readHealth,
    execute: async (requested, input, options = {}) => {
      const { sessionId = `s-${randomUUID()}`, userId = ANONYMOUS, tenantId } = options;
      const agent =
        typeof requested === 'string'
          ? agents.resolve(requested, { sessionId, userId })
          : requested;
      if (typeof requested !== 'string') agents.register(requested);
      if (!isStoredSessionId(sessionId)) {
        throw new HelixError('validation_error', 'The session id must match [A-Za-z0-9_-]{1,128}.');
      }
      const { messages, state = options.state } = readInput(input, options);
      const result = await runs.execute({
        sessionId,
        agent: agent.name,
        owner: userId,
        tenant: tenantId,
        messages,
        state: state === undefined ? undefined : readState(agent, state),
      });
      if (result.kind === 'begun') return handleOf(sessionId, result.run.runId);
      if (result.kind !== 'accepted') throw toBeginRefusal(sessionId, result);
      return handleOf(sessionId, await findRunOf(store, sessionId, messages.at(-1)?.id ?? ''));
    },
    getHandle: async (sessionId, runId) => {
      const record = await store.sessions.read(sessionId);
      if (record === undefined) return null;
      if (runId === undefined || runId === record.runId) return handleOf(sessionId, record.runId);
      const listed = await store.runs.list(sessionId);
      return listed.some((run) => run.runId === runId) ? handleOf(sessionId, runId) : null;
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
}

/** The run that replied to a message which was accepted before; the newest one if none has yet. */
export async function findRunOf(
  { sessions }: Pick<Store, 'sessions'>,
  sessionId: string,
  messageId: string,
): Promise<string> {
  const view = await sessions.view(sessionId);
  if (view === undefined) throw new HelixError('not_found', 'There is no such session.');
  const { rows, record } = view;
  const index = rows.findIndex((row) => row.role === 'user' && row.id === messageId);
  const reply = rows.slice(index + 1).find((row) => row.role === 'assistant');
  return reply?.role === 'assistant' ? reply.runId : record.runId;
}
