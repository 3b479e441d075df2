import {
  createScriptedModel,
  type AgentDefinition,
  type LlmConfig,
  type ScriptStep,
} from '../agents/index.js';

/** Replacement models by the agent's name; a list is a script. */
export type TestModels = Readonly<Record<string, readonly ScriptStep[] | LlmConfig['model']>>;

/**
 * Returns the agents and their sub-agents with replaced models.
 *
 * @throws Error for an unknown agent name
 */
export function withModels(
  agents: readonly AgentDefinition[],
  models: TestModels,
): AgentDefinition[] {
  const made = new Map<AgentDefinition, AgentDefinition>();
  const names = new Set<string>();

  function replace(agent: AgentDefinition): AgentDefinition {
    const known = made.get(agent);
    if (known !== undefined) return known;
    names.add(agent.name);
    const wanted = Object.hasOwn(models, agent.name) ? models[agent.name] : undefined;
    const tools = agent.tools.map((tool) =>
      tool.subAgent === undefined
        ? tool
        : { ...tool, subAgent: { ...tool.subAgent, agent: replace(tool.subAgent.agent) } },
    );
    const model = Array.isArray(wanted)
      ? createScriptedModel(wanted as readonly ScriptStep[])
      : ((wanted as LlmConfig['model'] | undefined) ?? agent.llmConfig.model);
    const { models: all, ...settings } = agent.llmConfig;
    const kept = wanted === undefined && all !== undefined ? { models: all } : {};
    const llmConfig = { ...settings, ...kept, model };
    const replaced = Object.freeze({ ...agent, tools, llmConfig });
    made.set(agent, replaced);
    return replaced;
  }

  const replaced = agents.map(replace);
  const unknown = Object.keys(models).find((name) => !names.has(name));
  if (unknown !== undefined) throw new Error(`models names "${unknown}", which is no agent here`);
  return replaced;
}
