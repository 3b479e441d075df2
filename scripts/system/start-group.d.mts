// The types of start-group.mjs, for rehearsals.
import type { SpawnOptions } from 'node:child_process';

export interface ProgramGroup {
  /** What it has printed so far. */
  output: () => string;
  /** Ends all of it, and resolves when it has ended. */
  stop: () => Promise<void>;
}
export function startGroup(
  file: string,
  args: string[],
  options: SpawnOptions & { says: string | RegExp; withinMs?: number },
): Promise<ProgramGroup>;
