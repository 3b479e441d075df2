import { DefinitionError } from './definition-error.js';
import type { AgentDefinition } from './definitions.js';

/** Thrown if no agent is registered under a name. */
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
  /** Owner of the conversation; absent without a conversation. */
  readonly userId?: string;
  /** Tenant, if any; users of different tenants may share an id. */
  readonly tenantId?: string;
  /** The `env` argument of the registry; variables of the process are not added to it. */
  readonly env?: Readonly<Record<string, unknown>>;
}

/** Creates the definition for a scope. Must be quick: each process calls it for every step. */
export type AgentFactory = (scope: AgentScope) => AgentDefinition;

/** Agents that a process can run, by name: a run stores the name, never the definition. */
export class AgentRegistry {
  readonly #agents = new Map<string, AgentDefinition | AgentFactory>();
  /** Names registered directly, and not only as sub-agents. */
  readonly #own = new Set<string>();
  readonly #env: Readonly<Record<string, unknown>>;

  /** @param env passed to factories unchanged */
  constructor(agents: Iterable<AgentDefinition> = [], env: Readonly<Record<string, unknown>> = {}) {
    this.#env = env;
    for (const agent of agents) this.register(agent);
  }

  /**
   * Adds an agent and the agents that its tools delegate to, whose runs find them by name too.
   * Adding the same definition again is harmless.
   *
   * @throws DefinitionError if one of the names is taken; nothing is added then
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
   * Adds an agent whose definition depends on its user or session. Its sub-agents must be
   * registered separately: a child may run in a process that never created its parent.
   *
   * @throws DefinitionError if the name is taken
   */
  registerFactory(type: string, factory: AgentFactory): void {
    const present = this.#agents.get(type);
    if (present !== undefined && present !== factory) throw taken(type);
    this.#agents.set(type, factory);
    this.#own.add(type);
  }

  /** Registers an agent and its sub-agents; replaces agents of the same names. */
  replace(agent: AgentDefinition): void {
    for (const member of withSubAgents(agent)) this.#agents.set(member.name, member);
    this.#own.add(agent.name);
  }

  /**
   * @throws AgentNotFoundError if no agent has the name
   * @throws DefinitionError if a factory made an agent of another name
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

  /** Returns true if a factory makes the definition, so that it may depend on the scope. */
  isMade(name: string): boolean {
    return typeof this.#agents.get(name) === 'function';
  }

  /** Removes an agent but not its sub-agents. Returns true if it was registered. */
  unregister(name: string): boolean {
    this.#own.delete(name);
    return this.#agents.delete(name);
  }

  /**
   * Returns true if people may talk to the agent: it was registered directly, or sets `public:
   * true`. An agent that is only a sub-agent trusts the messages of its parent.
   */
  isPublic(name: string): boolean {
    const agent = this.#agents.get(name);
    if (agent === undefined) return false;
    const declared = typeof agent === 'function' ? undefined : agent.public;
    return declared ?? this.#own.has(name);
  }

  /** Returns the names in order of registration. */
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

/** Registry for processes with one set of agents. */
export const defaultAgentRegistry = new AgentRegistry();

/** Yields an agent and all its direct and indirect sub-agents. */
export function* withSubAgents(agent: AgentDefinition): Generator<AgentDefinition> {
  yield agent;
  for (const { subAgent } of agent.tools) {
    if (subAgent !== undefined) yield* withSubAgents(subAgent.agent);
  }
}

function taken(agent: string): DefinitionError {
  return new DefinitionError('another agent is registered under this name', { agent });
}
