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
import type { Store } from '../../../store/contract/store.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import {
  createInProcessExecutor,
  type InProcessExecutor,
  type InProcessOptions,
} from '../create-executor.js';
import { beginAfterHistory } from './adopt-history.js';
import { AgentRunError } from './agent-run-error.js';
import {
  callOptionsOfTurn,
  requireSameOptions,
  toKeptOptions,
  withCallOptions,
} from './call-options.js';
import { createCallHooks, type CallHooks } from './call-hooks.js';
import { toGeneratedStream, type GeneratedStream } from './generated-stream.js';
import { lastStepOf, toCallEnd, toGenerated, type Generated } from './generated.js';
import { readCall, withTimeout, TWO_CALLS, type AgentCall } from './read-call.js';
import { TextParts } from './text-parts.js';
import { toUses } from './tool-uses.js';

/** What this runtime knows of an agent beyond what the AI SDK does, and where its runs are kept. */
export type ToolLoopAgentMore = Omit<AgentSettings, 'callOptions'> &
  Partial<Pick<InProcessOptions, 'stores' | 'services' | 'logger'>>;

interface Begun {
  handle: RunHandle;
  /** Position in the stream after which the call's own chunks come. */
  after: number | undefined;
  /** Rows of the turn that an earlier call has given back. */
  given: readonly Row[];
  /** Calls whose results the program has. */
  results: ReadonlySet<string>;
  /** Calls that this one denies. */
  denied: readonly string[];
  signal: AbortSignal | undefined;
  hooks: CallHooks;
}

/** Steps of an agent that says nothing, as in the AI SDK. */
const DEFAULT_STEPS = 20;

/** How long a conversation is kept in memory after it was last used. */
const IN_MEMORY_SECONDS = 3_600;

/**
 * `ToolLoopAgent` with the settings of the AI SDK's class of that name, carried out by
 * `createInProcessExecutor`: a program that uses that class changes its import, and its runs are
 * recorded, resumable and bounded as all runs here. A file that exports one also serves as the file of
 * agents of `helix-temporal dev`, where Temporal carries the runs out.
 *
 * Not here: responses for pages (`handleChatStream` has them).
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
  /** Conversations by the messages that were given back for them, or have answered their calls. */
  readonly #sessions = new WeakMap<object, string>();
  readonly #conversations: Conversations;
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
    this.#conversations = createConversations(stores.store);
    // Without a prepareCall nothing reads call options.
    const schema = settings.prepareCall === undefined ? undefined : settings.callOptionsSchema;
    this.#agent = fromAgent(
      { ...settings, callOptionsSchema: schema },
      {
        name: settings.id ?? 'agent',
        // Steps are given back with their usage, which is kept for agents that ask for it.
        stopWhen: (settings.stopWhen ?? isStepCount(DEFAULT_STEPS)) as AgentSettings['stopWhen'],
        ...own,
        onStepFinish: this.#hooks.beside(own.onStepFinish),
        ...(settings.prepareCall !== undefined && { callOptions: callOptionsOfTurn }),
      },
    );
    const agents = new AgentRegistry([this.#agent]);
    this.#executor = createInProcessExecutor({ agents, stores, services, logger });
  }

  get id(): string | undefined {
    return this.settings.id;
  }

  get tools(): TOOLS {
    return this.settings.tools ?? ({} as TOOLS);
  }

  /**
   * Resolves when the run has completed, or waits for people.
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
    const isOver =
      after !== undefined && (await this.#conversations.stillWaits(handle.sessionId, after));
    return toGeneratedStream({
      done: this.#finish(begun),
      // Each stream reads the record from where the call began.
      read: () => (isOver ? [] : handle.stream(from)),
      parts: () => new TextParts(this.#agent, toUses(given), denied),
      agentId: handle.sessionId,
      tools: this.tools,
      signal,
    });
  }

  /** Ends running steps, and leaves the runs as they are in the store. */
  close(): Promise<void> {
    return this.#executor.close();
  }

  async #begin(call: AgentCall<CALL_OPTIONS, TOOLS>): Promise<Begun> {
    call.abortSignal?.throwIfAborted();
    const signal = withTimeout(call);
    const read = await readCall(call, (message) => this.#sessions.get(message));
    const { userId, userId: owner = ANONYMOUS } = call;
    const kept = call.options === undefined ? undefined : await this.#keep(call.options);
    if (read.kind === 'turn') {
      const { sessionId = `s-${randomUUID()}`, history, results } = read;
      const messages = kept ? withCallOptions(read.messages, kept.options) : read.messages;
      const { name } = this.#agent;
      const execute = () => this.#executor.execute(name, messages, { sessionId, userId });
      const isKnown = await this.#conversations.isKnown(sessionId, { owner, results });
      const hooks = this.#hooks.open(sessionId, call);
      try {
        const foreign = { sessionId, owner, agent: name, messages: history };
        const deps = { executor: this.#executor, store: this.#stores.store };
        const handle = isKnown ? await execute() : await beginAfterHistory(deps, foreign, execute);
        return {
          handle,
          after: undefined,
          given: [],
          results: new Set(),
          denied: [],
          signal,
          hooks,
        };
      } catch (error) {
        hooks.close();
        throw error;
      }
    }
    const { sessionId, answers, results } = read;
    const handle = await this.#executor.getHandle(sessionId);
    const record = await this.#stores.store.sessions.read(sessionId);
    if (handle === null || !isOf(record, owner)) {
      throw new HelixError('not_found', 'There is no such conversation.');
    }
    const turn = await this.#conversations.turn(sessionId);
    if (kept !== undefined) requireSameOptions(turn, kept.options);
    let after: number | undefined;
    const hooks = this.#hooks.open(sessionId, call);
    try {
      for (const answer of answers) {
        const given = { ...answer, by: userId };
        ({ sequence: after } = await handle.submitToolResult(given, { isPosted: true }));
      }
    } catch (error) {
      hooks.close();
      throw error;
    }
    // Programs send them again beside the answers to the other calls.
    for (const message of call.messages ?? []) {
      if (message.role === 'tool') this.#sessions.set(message, sessionId);
    }
    const denied = answers.flatMap((answer) =>
      'approved' in answer && !answer.approved ? answer.toolCallId : [],
    );
    return { handle, after, given: turn, results, denied, signal, hooks };
  }

  async #keep(options: unknown): Promise<{ options: unknown }> {
    const { prepareCall, callOptionsSchema: schema } = this.settings;
    if (prepareCall === undefined) {
      throw new HelixError('validation_error', 'options are for agents with a prepareCall.');
    }
    return { options: await toKeptOptions(options, schema) };
  }

  async #finish({
    handle,
    given,
    results,
    signal,
    hooks,
  }: Begun): Promise<Generated<TOOLS, OUTPUT>> {
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
      const turn = await this.#conversations.turn(sessionId);
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
}

/** What a call of the agent asks the record. */
interface Conversations {
  /**
   * Whether there is such a conversation.
   *
   * @throws HelixError `validation_error` if it waits for one of these results: a new message would
   * give the call up
   */
  isKnown: (
    sessionId: string,
    call: { owner: string; results: ReadonlySet<string> },
  ) => Promise<boolean>;
  /** The rows of the newest turn. */
  turn: (sessionId: string) => Promise<Row[]>;
  /** True if the run has not continued with the answer of this sequence: others are missing. */
  stillWaits: (sessionId: string, answered: number) => Promise<boolean>;
}

/** Users of this agent have no tenant; in a tenant another person may have the name. */
function isOf(record: SessionRecord | undefined, owner: string): boolean {
  return record?.owner === owner && record.tenant === undefined;
}

function createConversations({ sessions }: Pick<Store, 'sessions'>): Conversations {
  return {
    isKnown: async (sessionId, { owner, results }) => {
      if (results.size === 0) return (await sessions.read(sessionId)) !== undefined;
      const view = await sessions.withCalls(sessionId);
      const isAwaited = view?.openCalls.some(
        ({ state, spec }) => state === 'waiting' && results.has(spec.toolCallId),
      );
      if (isOf(view?.record, owner) && isAwaited === true) {
        throw new HelixError('validation_error', TWO_CALLS);
      }
      return view !== undefined;
    },
    turn: async (sessionId) => {
      const record = await sessions.read(sessionId);
      return sessions.rows(sessionId, record?.turnStartRow ?? 0);
    },
    stillWaits: async (sessionId, answered) => {
      const record = await sessions.read(sessionId);
      return record?.stream === 'paused' && record.pauseSequence < answered;
    },
  };
}
