/**
 * Changes of the commands since 0.2.0, by the name that `patched()` records. A run that began before
 * one keeps to what its history says; a name is never used for two changes.
 */
export const PATCHES = {
  /** A stop by signal or cancel is recorded before the execution ends or continues as new. */
  stopsAreRecorded: 'stops-are-recorded',
  /** Of many calls of one step some begin as others end. */
  callsInWaves: 'calls-in-waves',
  /** A sub-agent that was started before its parent was reset is waited for. */
  childIsAtWork: 'child-is-at-work',
  /** Ends, stops, deadlines and results of sub-agents are written down by local activities. */
  localBookkeeping: 'local-bookkeeping',
} as const;
