import type { FlexibleSchema } from 'ai';
import { mergeObjects } from 'ai/internal';
import { DefinitionError } from '../definition-error.js';
import {
  toChanges,
  type PreparedStep,
  type PrepareStep,
  type PrepareStepOptions,
} from '../step-hooks.js';
import { Sampling } from '../llm-settings.js';
import { withContexts, type AgentContexts } from './contexts.js';
import { toToolSchema } from './tool-schema.js';

/** Recorded inputs of a turn's call options, so that every worker computes the same. */
export type CallOptionsScope = Pick<
  PrepareStepOptions,
  'sessionId' | 'runId' | 'state' | 'messageMetadata'
>;

/** Call options of the AI SDK: constant, or computed for each turn. */
export type CallOptions = object | ((scope: CallOptionsScope) => unknown);

type PrepareCall = (options: Record<string, unknown>) => unknown;

/** Results of `prepareCall` that a step can apply. */
const CHANGES = [
  ...Object.keys(Sampling),
  'model',
  'instructions',
  'toolChoice',
  'activeTools',
  'providerOptions',
  'messages',
];
const CHANGED = new Set<string>(CHANGES);
/** Inputs of `prepareCall` that are ignored in its result. */
const INPUTS = new Set(['options']);

/**
 * Combines the `prepareCall` and `prepareStep` of an AI SDK agent into one `prepareStep`.
 * `prepareCall` runs before each step with the agent's settings, since any worker may take the
 * step; it must return the same for the same options.
 *
 * @throws DefinitionError for call options that would not be read
 */
export function toPrepareStep(
  settings: Record<string, unknown>,
  contexts: AgentContexts | undefined,
  callOptions: CallOptions | undefined,
  agent: string,
): PrepareStep | undefined {
  const { prepareCall, callOptionsSchema } = settings;
  const own = withContexts(settings['prepareStep'] as PrepareStep | undefined, contexts);
  if (callOptionsSchema !== undefined && callOptions === undefined) {
    const instead = 'say where they come from: fromAgent(agent, { callOptions })';
    throw new DefinitionError(`callOptionsSchema is for call options; ${instead}`, { agent });
  }
  if (prepareCall === undefined) {
    if (callOptions === undefined) return own;
    throw new DefinitionError('callOptions are for agents with a prepareCall', { agent });
  }
  if (typeof prepareCall !== 'function') {
    throw new DefinitionError('prepareCall must be a function', { agent });
  }
  const read = toReadOptions(callOptions, callOptionsSchema);
  return async (step) => {
    // It gets the initial messages, as in the AI SDK; the reply so far is appended later.
    const given = { ...settings, ...(await read(step)), messages: step.initialMessages };
    const returned = (await (prepareCall as PrepareCall)(given)) as typeof given | undefined;
    const { messages: initial, ...others } = toCallChanges(returned ?? given, given, agent);
    const messages = initial && { messages: [...initial, ...step.responseMessages] };
    // As in the AI SDK, these replace the agent's, so the agent's own model settings have none.
    const { providerOptions } = (returned ?? given) as PreparedStep;
    const changes = toChanges({ ...others, providerOptions, ...messages });
    if (own === undefined) return changes;
    return joined(changes, toChanges(await own(afterChanges(step, changes))));
  };
}

/** Returns the call options, validated by the agent's schema as in the AI SDK. */
function toReadOptions(
  callOptions: CallOptions | undefined,
  schema: unknown,
): (step: PrepareStepOptions) => Promise<{ options?: unknown }> {
  return async ({ sessionId, runId, state, messageMetadata }) => {
    const scope = { sessionId, runId, state, messageMetadata };
    const options: unknown =
      typeof callOptions === 'function' ? await callOptions(scope) : callOptions;
    if (options === undefined) return {};
    if (schema === undefined) return { options };
    return { options: await toToolSchema(schema as FlexibleSchema).parseAsync(options) };
  };
}

const INSTEAD: Partial<Record<string, string>> = {
  tools: 'return activeTools with the names of those that the model may call',
  prompt: 'return messages',
};
const ELSEWHERE =
  'set it on the agent, or use a factory of the registry for what depends on the user';

/** @throws DefinitionError for changes that a step cannot have */
function toCallChanges(
  returned: Record<string, unknown>,
  given: Record<string, unknown>,
  agent: string,
): PreparedStep {
  for (const [field, value] of Object.entries(returned)) {
    if (CHANGED.has(field) || INPUTS.has(field) || value === given[field]) continue;
    const instead = INSTEAD[field] ?? ELSEWHERE;
    throw new DefinitionError(`prepareCall cannot change "${field}" of a run; ${instead}`, {
      agent,
    });
  }
  return Object.fromEntries(
    CHANGES.filter(
      (field) => returned[field] !== undefined && returned[field] !== given[field],
    ).map((field) => [field, returned[field]]),
  );
}

type Hook<Event> = ((event: Event) => unknown) | undefined;

/** Returns a hook that calls both, even if one of them throws or hangs. */
export function bothHooks<Event>(own: Hook<Event>, given: Hook<Event>): Hook<Event> {
  // The check of the agent's other settings refuses a value that is no function.
  if (typeof own !== 'function' || typeof given !== 'function') return given ?? own;
  return async (event) => {
    const call = async (hook: typeof own): Promise<unknown> => hook(event);
    const ended = await Promise.allSettled([call(own), call(given)]);
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  };
}

/**
 * Joins two hooks. The given one runs first, since `compaction` counts the stored messages. The
 * agent's own hook sees those changes and selects among the messages; the given hook wins for other
 * fields that both set.
 */
export function bothPrepare(
  own: PrepareStep | undefined,
  given: PrepareStep | undefined,
): PrepareStep | undefined {
  if (typeof own !== 'function' || typeof given !== 'function') return given ?? own;
  return async (options) => {
    const first = toChanges(await given(options));
    const second = toChanges(await own(afterChanges(options, first)));
    const messages = second.messages ?? first.messages;
    return { ...joined(second, first), ...(messages !== undefined && { messages }) };
  };
}

/** Merges changes: `last` wins, and options of providers are merged. */
function joined(first: PreparedStep, last: PreparedStep): PreparedStep {
  const providerOptions = mergeObjects(first.providerOptions, last.providerOptions);
  return { ...first, ...last, ...(providerOptions && { providerOptions }) };
}

/** Returns the input of a `prepareStep` after other code's changes. */
function afterChanges(
  options: PrepareStepOptions,
  { messages, model, instructions }: PreparedStep,
): PrepareStepOptions {
  const changed = {
    ...options,
    model: model ?? options.model,
    instructions: instructions ?? options.instructions,
  };
  if (messages === undefined) return changed;
  const keep = (): never => {
    const fault = 'a summary cannot stand for messages that other code has selected';
    throw new DefinitionError(fault, { call: 'prepareStep' });
  };
  return { ...changed, messages, compaction: { kept: undefined, keep } };
}
