import type { AgentModel, LlmConfig, LlmSettings, ModelChoice } from './definitions.js';

/** True for a model with settings of its own; a model itself answers. */
export function isChoice(value: unknown): value is ModelChoice {
  if (typeof value !== 'object' || value === null) return false;
  return 'model' in value && !('doStream' in value);
}

/** The settings with a list of models in one form. */
export function toLlmConfig({ model, ...settings }: LlmSettings): LlmConfig {
  if (!isList(model)) return { ...settings, model };
  const models = model.map((each) => Object.freeze(isChoice(each) ? { ...each } : { model: each }));
  const [first] = models;
  if (first === undefined) throw new Error('a list of models has a first one');
  return { ...settings, model: first.model, models: Object.freeze(models) };
}

function isList(model: LlmSettings['model']): model is readonly (AgentModel | ModelChoice)[] {
  return Array.isArray(model);
}
