import { fileURLToPath } from 'node:url';

/** Folder of the kept histories, one file each. */
export const historiesFolder = fileURLToPath(new URL('../histories/', import.meta.url));

/**
 * Histories that `npm test` replays: every command of a run, the notices of a wait, and a firing. None is of `deliver`,
 * `notifyEnd` or `agentToolWork`.
 */
export const KEPT: readonly string[] = [
  'text-alone',
  'parallel-tools',
  'approval',
  'client-tool-in-time',
  'deadline-expires',
  'sub-agent-asks-parent',
  'stop-while-a-tool-works',
  'goes-on-as-new',
  'gone-on-as-new',
  'leg-tools-beside-people',
  'notices',
  'firing',
];
