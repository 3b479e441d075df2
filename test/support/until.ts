import { eventually } from '../../store/conformance/assertions.js';

/** Waits for an external condition, on a busy machine for long. */
export function until<T>(
  what: string,
  ask: Parameters<typeof eventually<T>>[1],
  withinMs = 90_000,
): Promise<T> {
  return eventually(what, ask, withinMs);
}
