import { DefinitionError } from './definition-error.js';
import type { AgentDefinition } from './definitions.js';

/** No agent of that name is registered here. */
export class AgentNotFoundError extends Error {
  override readonly name = 'AgentNotFoundError';
  readonly agentType: string;

  constructor(agentType: string) {
    super(`No agent is registered under the name "${agentType}".`);
    this.agentType = agentType;
  }
}

/** The user, session and run for which a factory makes the definition. */
export interface AgentScope {
  readonly sessionId?: string;
  readonly runId?: string;
  /** The owner of the conversation; absent where no conversation is meant. */
  readonly userId?: string;
  /** The tenant, if there is one: users of others may have the same id. */
  readonly tenantId?: string;
  /** The `env` argument of the registry; variables of the process are not added to it. */
  readonly env?: Readonly<Record<string, unknown>>;
}

/** Makes the definition for a scope; called on every process and for every step, so it must be quick. */
export type AgentFactory = (scope: AgentScope) => AgentDefinition;

/** The agents a process can run, found by name: a run carries the name, never the definition. */
export class AgentRegistry {
  readonly #agents = new Map<string, AgentDefinition | AgentFactory>();
  /** Names that were registered directly, not only as the sub-agent of another agent. */
  readonly #own = new Set<string>();
  readonly #env: Readonly<Record<string, unknown>>;

  /** @param env handed to factories as it is */
  constructor(agents: Iterable<AgentDefinition> = [], env: Readonly<Record<string, unknown>> = {}) {
    this.#env = env;
    for (const agent of agents) this.register(agent);
  }

  /**
   * Adds an agent, and the agents that its tools delegate to: their runs find them by name as well.
   * The same definition twice is harmless.
   *
   * @throws DefinitionError if something else has the name of one of them; nothing is added then
   */
  register(agent: AgentDefinition): void {
    const family = [...withSubAgents(agent)];
    const known = new Map(this.#agents);
    for (const member of family) {
      const present = known.get(member.name);
      if (present !== undefined && present !== member) throw taken(member.name);
      known.set(member.name, member);
    }
    for (const member of family) this.#agents.set(member.name, member);
    this.#own.add(agent.name);
  }

  /**
   * Adds an agent whose definition depends on its user or session. The agents that its tools delegate
   * to must be registered separately: a child may run in a process that never made its parent.
   *
   * @throws DefinitionError if something else has the name
   */
  registerFactory(type: string, factory: AgentFactory): void {
    const present = this.#agents.get(type);
    if (present !== undefined && present !== factory) throw taken(type);
    this.#agents.set(type, factory);
    this.#own.add(type);
  }

  /** Registers an agent and those that it delegates to; replaces agents of the same names. */
  replace(agent: AgentDefinition): void {
    for (const member of withSubAgents(agent)) this.#agents.set(member.name, member);
    this.#own.add(agent.name);
  }

  /**
   * @throws AgentNotFoundError if no agent has the name
   * @throws DefinitionError if a factory made something else than was registered
   */
  resolve(name: string, scope: AgentScope = {}): AgentDefinition {
    const agent = this.get(name, scope);
    if (agent === undefined) throw new AgentNotFoundError(name);
    return agent;
  }

  /** @throws DefinitionError as `resolve` */
  get(name: string, scope: AgentScope = {}): AgentDefinition | undefined {
    const registered = this.#agents.get(name);
    return typeof registered === 'function'
      ? this.#make(name, registered, { env: this.#env, ...scope })
      : registered;
  }

  has(name: string): boolean {
    return this.#agents.has(name);
  }

  /** True if a factory makes the definition, so that it may depend on the scope. */
  isMade(name: string): boolean {
    return typeof this.#agents.get(name) === 'function';
  }

  /** Removes an agent; true if it was registered. Those that it delegates to stay. */
  unregister(name: string): boolean {
    this.#own.delete(name);
    return this.#agents.delete(name);
  }

  /**
   * True if people may talk to the agent: it was registered directly, or sets `public: true`. An
   * agent that is only a sub-agent trusts the messages of its parent.
   */
  isPublic(name: string): boolean {
    const agent = this.#agents.get(name);
    if (agent === undefined) return false;
    const declared = typeof agent === 'function' ? undefined : agent.public;
    return declared ?? this.#own.has(name);
  }

  /** The names, in order of registration. */
  getRegisteredTypes(): string[] {
    return [...this.#agents.keys()];
  }

  clear(): void {
    this.#agents.clear();
    this.#own.clear();
  }

  #make(name: string, factory: AgentFactory, scope: AgentScope): AgentDefinition {
    const made = factory(scope);
    if (made.name !== name) {
      throw new DefinitionError(`its factory made an agent named "${made.name}"`, { agent: name });
    }
    for (const { name: tool, subAgent } of made.tools) {
      if (subAgent !== undefined && !this.#agents.has(subAgent.agent.name)) {
        const fault = `"${subAgent.agent.name}" must be registered separately, because a factory made this agent`;
        throw new DefinitionError(fault, { agent: name, tool });
      }
    }
    return made;
  }
}

/** For processes that have one set of agents. */
export const defaultAgentRegistry = new AgentRegistry();

/** An agent and all that it delegates to, directly or not. */
export function* withSubAgents(agent: AgentDefinition): Generator<AgentDefinition> {
  yield agent;
  for (const { subAgent } of agent.tools) {
    if (subAgent !== undefined) yield* withSubAgents(subAgent.agent);
  }
}

function taken(agent: string): DefinitionError {
  return new DefinitionError('another agent is registered under this name', { agent });
}
