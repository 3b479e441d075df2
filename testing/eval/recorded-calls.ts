import type { EvalCase, RecordedCall } from './case.js';

/** The calls of a case, found by tool and input. */
export interface RecordedCalls {
  /** Names of the called tools. */
  tools: readonly string[];
  /**
   * Returns the recorded call for a call made now, always the same one for the same id. Of equal recordings
   * each call gets the next unused one, then the last one again. Undefined if none was recorded.
   */
  of: (toolCallId: string, tool: string, input: unknown) => RecordedCall | undefined;
  /** Returns the recorded call that a further call would get. */
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

/** Returns a key that ignores the order of an input's fields. */
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
