/** One model call of a lab script; the lab agent documents the keys. */
export interface LabEntry {
  say?: string;
  deltas?: number;
  everyMs?: number;
  hangMs?: number;
  stamp?: boolean;
  calls?: { tool: string; id: string; args: unknown }[];
}

/** Returns the user message that makes the lab agent perform these model calls. */
export function toLabText(...script: LabEntry[]): string {
  return JSON.stringify({ script });
}

/** Returns the script of a turn with this many steps, each with one `echo` call except the last. */
export function toEchoSteps(steps: number): string {
  const entries = Array.from({ length: steps - 1 }, (_, index): LabEntry => {
    const id = `c${String(index + 1)}`;
    return { calls: [{ tool: 'echo', id, args: { value: index + 1 } }] };
  });
  return toLabText(...entries, { say: 'done' });
}
