import type { FlexibleSchema } from 'ai';
import type { ToolContext } from '../tool-context.js';
import { DefinitionError } from '../definition-error.js';
import { toToolSchema } from './tool-schema.js';

/**
 * Contexts that an AI SDK agent passes to its own code: constants of its definition, which each
 * worker creates for itself.
 */
export interface AgentContexts {
  /** AI SDK 6: for all tools. */
  readonly experimental_context?: unknown;
  /** AI SDK 7: for hooks and rules. */
  readonly runtimeContext?: unknown;
  /** AI SDK 7: for each tool, by name. */
  readonly toolsContext?: Readonly<Record<string, unknown>> | undefined;
}

/** Returns the contexts in an agent's settings; undefined if there are none. */
export function contextsOf(settings: Record<string, unknown>): AgentContexts | undefined {
  const { experimental_context, runtimeContext, toolsContext } = settings;
  const contexts = { experimental_context, runtimeContext, toolsContext } as AgentContexts;
  return Object.values(contexts).every((each) => each === undefined) ? undefined : contexts;
}

/** Key of the runtime's own context, for `toolContextOf`; it survives copies of the options. */
export const OWN_CONTEXT = Symbol('helix-temporal.context');

/** Returns the option fields that give contexts to a tool's code. */
export type ContextFields = (own?: ToolContext | object) => Promise<object>;

/**
 * Gives a tool the contexts of its agent, or this runtime's context if the agent has none.
 *
 * @throws DefinitionError for a tool whose required context the agent does not have
 */
export function toContextFields(
  name: string,
  contextSchema: unknown,
  { toolsContext, experimental_context }: AgentContexts = {},
): ContextFields {
  const given = toolsContext?.[name];
  if (contextSchema !== undefined && given === undefined) {
    const instead =
      'use fromAgent with toolsContext, or services of the worker: toolContextOf(options).services';
    throw new DefinitionError(`its contextSchema demands a context; ${instead}`, { tool: name });
  }
  let checked: Promise<unknown> | undefined;
  const check = (): Promise<unknown> =>
    contextSchema === undefined
      ? Promise.resolve(given)
      : toToolSchema(contextSchema as FlexibleSchema).parseAsync(given);
  return async (own) => ({
    context: given === undefined ? own : await (checked ??= check()),
    experimental_context: experimental_context ?? own,
    ...(own !== undefined && { [OWN_CONTEXT]: own }),
  });
}

/** Adds the agent's contexts to the events of a hook. */
export function withContexts<Event extends object, Result>(
  hook: ((event: Event) => Result) | undefined,
  contexts: AgentContexts | undefined,
): ((event: Event) => Result) | undefined {
  if (contexts === undefined || typeof hook !== 'function') return hook;
  const set = Object.fromEntries(Object.entries(contexts).filter(([, each]) => each !== undefined));
  // Copying the descriptors keeps fields lazy that are costly to compute.
  return (event) =>
    hook(Object.defineProperties({ ...set }, Object.getOwnPropertyDescriptors(event)) as Event);
}
