import { fileURLToPath } from 'node:url';

/** Where the kept histories are, one file each. */
export const historiesFolder = fileURLToPath(new URL('../histories/', import.meta.url));

/** Those that `npm test` replays: each kind of workflow, and what a run's commands can be made of. */
export const KEPT: readonly string[] = [
  'text-alone',
  'parallel-tools',
  'approval-signalled',
  'client-tool-in-time',
  'deadline-expires',
  'sub-agent-asks-parent',
  'stop-while-a-tool-works',
  'goes-on-as-new',
  'gone-on-as-new',
  'leg-tools-beside-people',
  'notices',
];
