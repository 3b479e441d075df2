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

/** Settings that the AI SDK's class does not have, including the stores of the runs. */
export type ToolLoopAgentMore = Omit<AgentSettings, 'callOptions'> &
  Partial<Pick<InProcessOptions, 'stores' | 'services' | 'logger'>>;

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
  signal: AbortSignal | undefined;
  hooks: CallHooks;
}

/** Default step limit, as in the AI SDK. */
const DEFAULT_STEPS = 20;

/** Retention of an unused conversation in memory. */
const IN_MEMORY_SECONDS = 3_600;

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
    const isOver =
      after !== undefined && (await this.#conversations.stillWaits(handle.sessionId, after));
    return toGeneratedStream({
      done: this.#finish(begun),
      // Each stream reads the log from the beginning of the call.
      read: () => (isOver ? [] : handle.stream(from)),
      parts: () => new TextParts(this.#agent, toUses(given), denied),
      agentId: handle.sessionId,
      tools: this.tools,
      signal,
    });
  }

  /** Aborts running steps and leaves the runs in the store. */
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
    // Programs send these messages again together with answers to the other calls.
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

/** Queries of a call on the record. */
interface Conversations {
  /**
   * Resolves to true if the conversation exists.
   *
   * @throws HelixError `validation_error` if it waits for one of these results, since a new message would
   * abandon the call
   */
  isKnown: (
    sessionId: string,
    call: { owner: string; results: ReadonlySet<string> },
  ) => Promise<boolean>;
  /** Reads the rows of the newest turn. */
  turn: (sessionId: string) => Promise<Row[]>;
  /** Resolves to true if the run still waits for other answers after the answer of this sequence. */
  stillWaits: (sessionId: string, answered: number) => Promise<boolean>;
}

/** Returns true if the owner matches. Users of this agent have no tenant; a tenant may have a user of the same name. */
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
