/** One model call of a lab script; the agent's own documentation says what the keys do. */
export interface LabEntry {
  say?: string;
  deltas?: number;
  everyMs?: number;
  hangMs?: number;
  stamp?: boolean;
  calls?: { tool: string; id: string; args: unknown }[];
}

/** The user message that makes the lab agent perform these model calls. */
export function toLabText(...script: LabEntry[]): string {
  return JSON.stringify({ script });
}

/** A turn with so many steps, each of which calls `echo` once; the last one only says something. */
export function toEchoSteps(steps: number): string {
  const entries = Array.from({ length: steps - 1 }, (_, index): LabEntry => {
    const id = `c${String(index + 1)}`;
    return { calls: [{ tool: 'echo', id, args: { value: index + 1 } }] };
  });
  return toLabText(...entries, { say: 'done' });
}
