import { DefinitionError } from '../definition-error.js';
import type { PreparedStep, PrepareStep, PrepareStepOptions } from '../prepared-step.js';

type Hook<Event> = ((event: Event) => unknown) | undefined;

/** One hook that calls both, also if one of them throws or does not come back. */
export function bothHooks<Event>(own: Hook<Event>, given: Hook<Event>): Hook<Event> {
  // What is no function is refused with the agent's other settings.
  if (typeof own !== 'function' || typeof given !== 'function') return given ?? own;
  return async (event) => {
    const call = async (hook: typeof own): Promise<unknown> => hook(event);
    const ended = await Promise.allSettled([call(own), call(given)]);
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  };
}

/**
 * The one that is given beside an agent is asked first: `compaction` counts the messages as they are
 * stored. The agent's own one sees what it changed, and selects among its messages; of what both set
 * otherwise, that of the given one counts.
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

/** Of what both set, that of `last` counts; options of providers are merged. */
export function joined(first: PreparedStep, last: PreparedStep): PreparedStep {
  const providerOptions = { ...first.providerOptions };
  for (const [provider, values] of Object.entries(last.providerOptions ?? {})) {
    providerOptions[provider] = { ...providerOptions[provider], ...values };
  }
  return { ...first, ...last, providerOptions };
}

/** Only what is set, under one name each. */
export function defined(changes: PreparedStep | undefined): PreparedStep {
  const { system, instructions = system, ...others } = changes ?? {};
  return Object.fromEntries(
    Object.entries({ ...others, instructions }).filter(([, value]) => value !== undefined),
  );
}

/** What a `prepareStep` gets after other code has made these changes. */
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
