import type { EvalCase, RecordedCall } from './case.js';

/** The calls of a case, found by tool and input. */
export interface RecordedCalls {
  /** Names of the tools that were called. */
  tools: readonly string[];
  /**
   * The recorded call for one that is made now, the same whenever that one is asked about: of equal ones
   * the next that no other has, then the last of them again. Undefined if none was recorded.
   */
  of: (toolCallId: string, tool: string, input: unknown) => RecordedCall | undefined;
  /** The recorded call that a further one would get. */
  peek: (tool: string, input: unknown) => RecordedCall | undefined;
}

export function createRecordedCalls({ turns }: Pick<EvalCase, 'turns'>): RecordedCalls {
  const byKey = new Map<string, RecordedCall[]>();
  const all = turns.flatMap(({ calls }) => calls);
  for (const call of all) {
    const key = keyOf(call.tool, call.input);
    byKey.set(key, [...(byKey.get(key) ?? []), call]);
  }
  const taken = new Map<string, RecordedCall>();
  return {
    tools: [...new Set(all.map(({ tool }) => tool))],
    peek: (tool, input) => byKey.get(keyOf(tool, input))?.[0],
    of: (toolCallId, tool, input) => {
      const known = taken.get(toolCallId);
      if (known !== undefined) return known;
      const calls = byKey.get(keyOf(tool, input));
      const next = calls !== undefined && calls.length > 1 ? calls.shift() : calls?.[0];
      if (next !== undefined) taken.set(toolCallId, next);
      return next;
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
