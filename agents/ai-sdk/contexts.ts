import type { FlexibleSchema } from 'ai';
import type { ToolContext } from '../tool-context.js';
import { DefinitionError } from '../definition-error.js';
import { toToolSchema } from './tool-schema.js';

/**
 * What an agent of the AI SDK passes to its own code: constants of its definition, which each worker has
 * for itself.
 */
export interface AgentContexts {
  /** Of AI SDK 6: for all tools. */
  readonly experimental_context?: unknown;
  /** Of AI SDK 7: for hooks and rules. */
  readonly runtimeContext?: unknown;
  /** Of AI SDK 7: for each tool by its name. */
  readonly toolsContext?: Readonly<Record<string, unknown>> | undefined;
}

/** The contexts among the settings of an agent; undefined if it has none. */
export function contextsOf(settings: Record<string, unknown>): AgentContexts | undefined {
  const { experimental_context, runtimeContext, toolsContext } = settings;
  const contexts = { experimental_context, runtimeContext, toolsContext } as AgentContexts;
  return Object.values(contexts).every((each) => each === undefined) ? undefined : contexts;
}

/** The runtime's own context, for `toolContextOf`; it survives copies of the options. */
export const OWN_CONTEXT = Symbol('helix-temporal.context');

/** The fields of options by which a tool's code gets contexts. */
export type ContextFields = (own?: ToolContext | object) => Promise<object>;

/**
 * A tool gets the contexts of its agent, or this runtime's own one where the agent has none.
 *
 * @throws DefinitionError for a tool that needs a context which its agent does not have
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

/** A hook of the agent, which gets its contexts beside everything else. */
export function withContexts<Event extends object, Result>(
  hook: ((event: Event) => Result) | undefined,
  contexts: AgentContexts | undefined,
): ((event: Event) => Result) | undefined {
  if (contexts === undefined || typeof hook !== 'function') return hook;
  const set = Object.fromEntries(Object.entries(contexts).filter(([, each]) => each !== undefined));
  // Some fields of events are made only for those who look.
  return (event) =>
    hook(Object.defineProperties({ ...set }, Object.getOwnPropertyDescriptors(event)) as Event);
}
