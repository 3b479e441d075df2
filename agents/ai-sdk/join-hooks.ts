import { DefinitionError } from '../definition-error.js';
import type { PreparedStep, PrepareStep, PrepareStepOptions } from '../prepared-step.js';

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
    const first = defined(await given(options));
    const second = defined(await own(afterChanges(options, first)));
    const messages = second.messages ?? first.messages;
    return { ...joined(second, first), ...(messages !== undefined && { messages }) };
  };
}

/** Merges changes: `last` wins, and options of providers are merged. */
export function joined(first: PreparedStep, last: PreparedStep): PreparedStep {
  const providerOptions = { ...first.providerOptions };
  for (const [provider, values] of Object.entries(last.providerOptions ?? {})) {
    providerOptions[provider] = { ...providerOptions[provider], ...values };
  }
  return { ...first, ...last, providerOptions };
}

/** Returns the fields that are set, without older names. */
export function defined(changes: PreparedStep | undefined): PreparedStep {
  const { system, instructions = system, ...others } = changes ?? {};
  return Object.fromEntries(
    Object.entries({ ...others, instructions }).filter(([, value]) => value !== undefined),
  );
}

/** Returns the input of a `prepareStep` after other code's changes. */
export function afterChanges(
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
