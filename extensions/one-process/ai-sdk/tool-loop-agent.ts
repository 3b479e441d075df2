import { randomUUID } from 'node:crypto';
import { isStepCount, type OutputInterface, type ToolLoopAgentSettings, type ToolSet } from 'ai';
import {
  AgentRegistry,
  fromAgent,
  type AgentDefinition,
  type AgentSettings,
} from '../../../agents/index.js';
import type { RunHandle } from '../../../runs/run-handle.js';
import { HelixError } from '../../../protocol/errors.js';
import { ANONYMOUS } from '../../../protocol/ids.js';
import type { Row } from '../../../protocol/rows.js';
import type { SessionRecord } from '../../../store/contract/sessions.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import {
  createInProcessExecutor,
  type InProcessExecutor,
  type InProcessOptions,
} from '../create-executor.js';
import { beginAfterHistory } from './adopt-history.js';
import { createCallHooks, type CallHooks } from './call-hooks.js';
import {
  AgentRunError,
  lastStepOf,
  toCallEnd,
  toGenerated,
  toGeneratedStream,
  type Generated,
  type GeneratedStream,
} from './generated.js';
import {
  callOptionsOfTurn,
  readCall,
  requireSameOptions,
  toKeptOptions,
  TWO_CALLS,
  withCallOptions,
  withTimeout,
  type AgentCall,
  type ReadCall,
} from './read-call.js';
import { toPartStream } from './text-parts.js';

/** Settings that the AI SDK's class does not have, including the stores of the runs. */
export type ToolLoopAgentMore = Omit<AgentSettings, 'callOptions'> &
  Partial<Pick<InProcessOptions, 'stores' | 'services' | 'logger'>>;

/** A call's part in a run. */
interface Begun {
  handle: RunHandle;
  /** Sequence after which the call's own chunks begin. */
  after: number | undefined;
  /** Rows of the turn that an earlier call returned. */
  given: readonly Row[];
  /** Calls whose results the program has. */
  results: ReadonlySet<string>;
  /** Calls that this one denies. */
  denied: readonly string[];
}

type Call = Begun & { signal: AbortSignal | undefined; hooks: CallHooks };
/** Call options as they are kept with a turn. */
type Kept = { options: unknown } | undefined;

/** Default step limit, as in the AI SDK. */
const DEFAULT_STEPS = 20;

/** Retention of an unused conversation in memory. */
const IN_MEMORY_SECONDS = 3_600;

/** Closes the executors of agents that a program has dropped, unless their own tools or hooks hold them. */
const dropped = new FinalizationRegistry<InProcessExecutor>((executor) => void executor.close());

/**
 * Replaces the AI SDK's `ToolLoopAgent`, with the same settings, on `createInProcessExecutor`. A program
 * only changes its import; its runs are then recorded, resumable and bounded. A file that exports such an
 * agent also works as the agents file of `helix-temporal dev`, where Temporal carries the runs out.
 *
 * Responses for pages come from `handleChatStream`, not from this class.
 *
 * @throws DefinitionError for settings that a recorded run cannot keep
 * @example
 * import { tool } from 'ai';
 * import { ToolLoopAgent } from 'helix-temporal/runtime-js';
 * import { z } from 'zod';
 *
 * const guide = new ToolLoopAgent({
 *   model: 'openai/gpt-5',
 *   tools: {
 *     weather: tool({
 *       inputSchema: z.object({ city: z.string() }),
 *       execute: async ({ city }) => ({ city, celsius: 21 }),
 *     }),
 *   },
 * });
 * const { text, steps } = await guide.generate({ prompt: 'How warm is it in Rome?' });
 */
export class ToolLoopAgent<
  CALL_OPTIONS = never,
  TOOLS extends ToolSet = Record<string, never>,
  RUNTIME_CONTEXT extends Record<string, unknown> = Record<string, unknown>,
  OUTPUT extends OutputInterface = never,
> {
  readonly version = 'agent-v1';
  readonly settings: ToolLoopAgentSettings<CALL_OPTIONS, TOOLS, RUNTIME_CONTEXT, OUTPUT>;
  readonly #agent: AgentDefinition;
  readonly #stores: InProcessOptions['stores'];
  readonly #executor: InProcessExecutor;
  /** Conversations by the messages that they returned or that answered their calls. */
  readonly #sessions = new WeakMap<object, string>();
  readonly #hooks = createCallHooks();

  constructor(
    settings: ToolLoopAgentSettings<CALL_OPTIONS, TOOLS, RUNTIME_CONTEXT, OUTPUT>,
    more: ToolLoopAgentMore = {},
  ) {
    const {
      stores = createMemoryStores({ sessionTtlSeconds: IN_MEMORY_SECONDS }),
      services,
      logger,
      ...own
    } = more;
    // oxlint-disable-next-line typescript/no-deprecated -- As there, it counts without the newer name.
    this.settings = { ...settings, onEnd: settings.onEnd ?? settings.onFinish };
    this.#stores = stores;
    // Only `prepareCall` reads call options.
    const schema = settings.prepareCall === undefined ? undefined : settings.callOptionsSchema;
    this.#agent = fromAgent(
      { ...settings, callOptionsSchema: schema },
      {
        name: settings.id ?? 'agent',
        // Steps are returned with their usage, which is stored only for agents with hooks such as `stopWhen`.
        stopWhen: (settings.stopWhen ?? isStepCount(DEFAULT_STEPS)) as AgentSettings['stopWhen'],
        ...own,
        onStepFinish: this.#hooks.beside(own.onStepFinish),
        ...(settings.prepareCall !== undefined && { callOptions: callOptionsOfTurn }),
      },
    );
    const agents = new AgentRegistry([this.#agent]);
    this.#executor = createInProcessExecutor({ agents, stores, services, logger });
    // Stores of the caller may have other users, so only an executor on the agent's own is closed.
    if (more.stores === undefined) dropped.register(this, this.#executor);
  }

  get id(): string | undefined {
    return this.settings.id;
  }

  get tools(): TOOLS {
    return this.settings.tools ?? ({} as TOOLS);
  }

  /**
   * Resolves when the run has completed or waits for people.
   *
   * @throws AgentRunError for a run that failed or was stopped; HelixError for one that did not begin
   */
  async generate(call: AgentCall<CALL_OPTIONS, TOOLS>): Promise<Generated<TOOLS, OUTPUT>> {
    return this.#finish(await this.#begin(call));
  }

  /** @throws HelixError for a run that did not begin */
  async stream(call: AgentCall<CALL_OPTIONS, TOOLS>): Promise<GeneratedStream<TOOLS, OUTPUT>> {
    const begun = await this.#begin(call);
    const { handle, after, given, denied, signal } = begun;
    const from = after === undefined ? {} : { fromSequence: after };
    const isOver = after !== undefined && (await this.#stillWaits(handle.sessionId, after));
    const of = { agent: this.#agent, agentId: handle.sessionId, given, denied };
    return toGeneratedStream(
      this.#finish(begun),
      // Each stream reads the log from the beginning of the call.
      (last) => toPartStream(isOver ? [] : handle.stream(from), of, last),
      { tools: this.tools, signal },
    );
  }

  /** Aborts running steps and leaves the runs in the store. */
  close(): Promise<void> {
    return this.#executor.close();
  }

  async #begin(call: AgentCall<CALL_OPTIONS, TOOLS>): Promise<Call> {
    call.abortSignal?.throwIfAborted();
    const signal = withTimeout(call);
    const read = await readCall(call, (message) => this.#sessions.get(message));
    const kept = call.options === undefined ? undefined : await this.#keep(call.options);
    const { userId } = call;
    const { sessionId = `s-${randomUUID()}` } = read;
    const begin =
      read.kind === 'turn'
        ? await this.#checkTurn({ ...read, sessionId }, userId, kept)
        : await this.#checkAnswers(read, userId, kept);
    const hooks = this.#hooks.open(sessionId, call);
    try {
      const begun = await begin();
      // Programs send these messages again together with answers to the other calls.
      for (const message of read.kind === 'turn' ? [] : (call.messages ?? [])) {
        if (message.role === 'tool') this.#sessions.set(message, sessionId);
      }
      return { ...begun, signal, hooks };
    } catch (error) {
      hooks.close();
      throw error;
    }
  }

  /** Returns the function that begins the turn. */
  async #checkTurn(
    read: Extract<ReadCall, { kind: 'turn' }> & { sessionId: string },
    userId: string | undefined,
    kept: Kept,
  ): Promise<() => Promise<Begun>> {
    const { sessionId, history, results } = read;
    const owner = userId ?? ANONYMOUS;
    const messages = kept ? withCallOptions(read.messages, kept.options) : read.messages;
    const { name } = this.#agent;
    const execute = () => this.#executor.execute(name, messages, { sessionId, userId });
    const foreign = { sessionId, owner, agent: name, messages: history };
    const isKnown = await this.#isKnown(sessionId, owner, results);
    return async () => {
      const handle = isKnown
        ? await execute()
        : await beginAfterHistory(this.#executor, this.#stores.store, foreign, execute);
      return { handle, after: undefined, given: [], results: new Set(), denied: [] };
    };
  }

  /** Returns the function that gives the answers. */
  async #checkAnswers(
    { sessionId, answers, results }: Extract<ReadCall, { kind: 'answers' }>,
    userId: string | undefined,
    kept: Kept,
  ): Promise<() => Promise<Begun>> {
    const handle = await this.#executor.getHandle(sessionId);
    const record = await this.#stores.store.sessions.read(sessionId);
    if (handle === null || !isOf(record, userId ?? ANONYMOUS)) {
      throw new HelixError('not_found', 'There is no such conversation.');
    }
    const given = await this.#turn(sessionId);
    if (kept !== undefined) requireSameOptions(given, kept.options);
    const denied = answers.flatMap((answer) =>
      'approved' in answer && !answer.approved ? answer.toolCallId : [],
    );
    return async () => {
      let after: number | undefined;
      for (const answer of answers) {
        const signed = { ...answer, by: userId };
        ({ sequence: after } = await handle.submitToolResult(signed, { isPosted: true }));
      }
      return { handle, after, given, results, denied };
    };
  }

  async #keep(options: unknown): Promise<Kept> {
    const { prepareCall, callOptionsSchema: schema } = this.settings;
    if (prepareCall === undefined) {
      throw new HelixError('validation_error', 'options are for agents with a prepareCall.');
    }
    return { options: await toKeptOptions(options, schema) };
  }

  async #finish(call: Call): Promise<Generated<TOOLS, OUTPUT>> {
    const { handle, given, results, signal, hooks } = call;
    const { sessionId } = handle;
    const stop = (): void => {
      handle.interrupt({ reason: 'aborted' }).catch(() => undefined);
    };
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    try {
      const result = await handle.result();
      if (result.status === 'failed') throw new AgentRunError(result.error, sessionId);
      if (result.status === 'interrupted') {
        signal?.throwIfAborted();
        const message = 'The run was stopped.';
        throw new AgentRunError({ code: 'interrupted', message, retryable: true }, sessionId);
      }
      const turn = await this.#turn(sessionId);
      const before = { rows: given.length, results };
      const generated = toGenerated<TOOLS, OUTPUT>(this.#agent, turn, result, before);
      for (const message of generated.responseMessages) this.#sessions.set(message, sessionId);
      const lastStep = lastStepOf(turn.slice(given.length));
      await hooks.end(toCallEnd(generated, lastStep ?? 0), lastStep);
      return generated;
    } finally {
      signal?.removeEventListener('abort', stop);
      hooks.close();
    }
  }

  /**
   * Resolves to true if the conversation exists.
   *
   * @throws HelixError `validation_error` if it waits for one of these results, since a new message would
   * abandon the call
   */
  async #isKnown(sessionId: string, owner: string, results: ReadonlySet<string>): Promise<boolean> {
    const { sessions } = this.#stores.store;
    if (results.size === 0) return (await sessions.read(sessionId)) !== undefined;
    const view = await sessions.withCalls(sessionId);
    const isAwaited = view?.openCalls.some(
      ({ state, spec }) => state === 'waiting' && results.has(spec.toolCallId),
    );
    if (isOf(view?.record, owner) && isAwaited === true) {
      throw new HelixError('validation_error', TWO_CALLS);
    }
    return view !== undefined;
  }

  /** Reads the rows of the newest turn. */
  async #turn(sessionId: string): Promise<Row[]> {
    const { sessions } = this.#stores.store;
    const record = await sessions.read(sessionId);
    return sessions.rows(sessionId, record?.turnStartRow ?? 0);
  }

  /** Resolves to true if the run still waits for other answers after the answer of this sequence. */
  async #stillWaits(sessionId: string, answered: number): Promise<boolean> {
    const record = await this.#stores.store.sessions.read(sessionId);
    return record?.stream === 'paused' && record.pauseSequence < answered;
  }
}

/** Returns true if the owner matches. Users of this agent have no tenant; a tenant may have a user of the same name. */
function isOf(record: SessionRecord | undefined, owner: string): boolean {
  return record?.owner === owner && record.tenant === undefined;
}
