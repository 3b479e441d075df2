import type { EvalCase, RecordedCall } from './case.js';

/** The calls of a case, found by tool and input. */
export interface RecordedCalls {
  /** Names of the tools that were called. */
  tools: readonly string[];
  /**
   * The recorded call for one that is made now: of equal ones the next that was not taken, then the
   * last of them again. Undefined if none was recorded.
   */
  take: (tool: string, input: unknown) => RecordedCall | undefined;
  /** The call that `take` would return. */
  peek: (tool: string, input: unknown) => RecordedCall | undefined;
}

export function createRecordedCalls({ turns }: Pick<EvalCase, 'turns'>): RecordedCalls {
  const byKey = new Map<string, RecordedCall[]>();
  const all = turns.flatMap(({ calls }) => calls);
  for (const call of all) {
    const key = keyOf(call.tool, call.input);
    byKey.set(key, [...(byKey.get(key) ?? []), call]);
  }
  return {
    tools: [...new Set(all.map(({ tool }) => tool))],
    peek: (tool, input) => byKey.get(keyOf(tool, input))?.[0],
    take: (tool, input) => {
      const calls = byKey.get(keyOf(tool, input));
      return calls !== undefined && calls.length > 1 ? calls.shift() : calls?.[0];
    },
  };
}

/** Equal for inputs that differ in the order of keys only. */
export function keyOf(tool: string, input: unknown): string {
  return `${tool} ${toCanonicalJson(input)}`;
}

export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value ?? null, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
