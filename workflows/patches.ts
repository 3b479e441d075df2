/**
 * Changes of the commands since 0.2.0, by the name that `patched()` records. A run that began before
 * one keeps to what its history says; a name is never used for two changes.
 */
export const PATCHES = {
  /** A stop by signal or cancel is recorded before the execution ends or continues as new. */
  stopsAreRecorded: 'stops-are-recorded',
} as const;
