import type { AgentDefinition } from './definitions.js';
import { DefinitionError } from './definition-error.js';

/** No agent of that name is registered here. */
export class AgentNotFoundError extends Error {
  override readonly name = 'AgentNotFoundError';
  readonly agentType: string;

  constructor(agentType: string) {
    super(`No agent is registered under the name "${agentType}".`);
    this.agentType = agentType;
  }
}

/** The agents a process can run, found by name: a run carries the name, never the definition. */
export class AgentRegistry {
  readonly #agents = new Map<string, AgentDefinition>();

  constructor(agents: Iterable<AgentDefinition> = []) {
    for (const agent of agents) this.register(agent);
  }

  /**
   * Adds an agent, and the agents that its tools delegate to: their runs find them by name as well.
   * The same definition twice is harmless.
   *
   * @throws DefinitionError if another definition has the name of one of them
   */
  register(agent: AgentDefinition): void {
    const present = this.#agents.get(agent.name);
    if (present !== undefined && present !== agent) {
      throw new DefinitionError('another agent is registered under this name', {
        agent: agent.name,
      });
    }
    this.#agents.set(agent.name, agent);
    for (const { subAgent } of agent.tools)
      if (subAgent !== undefined) this.register(subAgent.agent);
  }

  /** @throws AgentNotFoundError if no agent has the name */
  resolve(name: string): AgentDefinition {
    const agent = this.#agents.get(name);
    if (agent === undefined) throw new AgentNotFoundError(name);
    return agent;
  }

  get(name: string): AgentDefinition | undefined {
    return this.#agents.get(name);
  }

  has(name: string): boolean {
    return this.#agents.has(name);
  }

  /** Removes an agent; says whether there was one. */
  unregister(name: string): boolean {
    return this.#agents.delete(name);
  }

  /** The names, in order of registration. */
  getRegisteredTypes(): string[] {
    return [...this.#agents.keys()];
  }

  clear(): void {
    this.#agents.clear();
  }
}
