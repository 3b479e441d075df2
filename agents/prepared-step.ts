import { assertSettings } from './definition-error.js';
import { isInstructions, isToolChoice } from './agent-config.js';
import { isObject, isTexts, must, settings } from './fields.js';
import type { PreparedStep } from './definitions.js';
import { Model, Sampling } from './llm-settings.js';

const CONTEXT = 'the services of the worker: toolContextOf(options).services';

/** Its values may come from plain JavaScript. */
const Fields = settings(
  {
    ...Sampling,
    messages: must('a list of messages', Array.isArray).optional(),
    model: Model.optional(),
    instructions: must('a string, or system messages', isInstructions).optional(),
    system: must('a string, or system messages', isInstructions).optional(),
    toolChoice: must(
      `'auto', 'none', 'required' or { type: 'tool', toolName }`,
      isToolChoice,
    ).optional(),
    activeTools: must('a list of names of tools', isTexts).optional(),
    providerOptions: must(
      'an object of objects by provider: { openai: { … } }',
      (value) => isObject(value) && Object.values(value).every(isObject),
    ).optional(),
  },
  {
    tools: 'activeTools',
    toolOrder: 'the order of the agent’s tools',
    toolsContext: CONTEXT,
    runtimeContext: CONTEXT,
    experimental_context: CONTEXT,
    headers: 'headers of the agent’s llmConfig',
    stopWhen: 'stopWhen of the agent',
    maxRetries: 'llmConfig: { maxTries } of the agent',
  },
);

/**
 * What a `prepareStep` returned, without fields that are undefined.
 *
 * @throws DefinitionError for fields that would silently have no effect, and for wrong values
 */
export function checkPreparedStep(returned: PreparedStep): PreparedStep {
  const set = Object.entries(returned).filter(([, value]) => value !== undefined);
  const changes: PreparedStep = Object.fromEntries(set);
  assertSettings(Fields, changes, { call: 'prepareStep' });
  return changes;
}
