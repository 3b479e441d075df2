import { DefinitionError } from '../definition-error.js';
import type { ToolDefinition } from '../definitions.js';
import type { InputHooks } from '../input-hooks.js';
import type { ContextFields } from './contexts.js';

const HOOKS = {
  start: 'onInputStart',
  delta: 'onInputDelta',
  available: 'onInputAvailable',
} as const;

/** The hooks of a tool of the AI SDK, as a field of its definition. @throws DefinitionError */
export function toInputHooks(
  name: string,
  tool: Partial<Record<(typeof HOOKS)[keyof typeof HOOKS], unknown>>,
  fields: ContextFields,
): Pick<ToolDefinition, 'onInput'> {
  const hooks = Object.entries(HOOKS).flatMap(([when, field]) => {
    const hook = tool[field];
    if (hook === undefined) return [];
    if (typeof hook !== 'function') {
      throw new DefinitionError(`${field} must be a function`, { tool: name });
    }
    const call = async (options: object): Promise<unknown> =>
      (hook as (options: object) => unknown)({ ...options, ...(await fields()) });
    return [[when, call]];
  });
  return hooks.length === 0 ? {} : { onInput: Object.fromEntries(hooks) as InputHooks };
}
