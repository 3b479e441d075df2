/**
 * Changes to the commands since 0.2.0, by the name that `patched()` records. A run that began
 * before a change keeps to its history; a name is never reused.
 */
export const PATCHES = {
  /** A stop by signal or cancel is recorded before the execution ends or continues as new. */
  stopsAreRecorded: 'stops-are-recorded',
  /** Many calls of one step are started in waves: as some end, others begin. */
  callsInWaves: 'calls-in-waves',
  /** A sub-agent that was started before its parent was reset is waited for. */
  childIsAtWork: 'child-is-at-work',
  /** Ends, stops, deadlines and results of sub-agents are recorded by local activities. */
  localBookkeeping: 'local-bookkeeping',
  /** Questions of tools that wait are notified. */
  toolsAskToo: 'tools-ask-too',
  /** Each wait of a step has notices under an id of its own. */
  waitsAreNumbered: 'waits-are-numbered',
  /** Receivers are notified of a delivery to another one that failed. */
  failuresAreNotified: 'failures-are-notified',
  /** What a tool waits for releases its call alone, beside the work under way. */
  waitsEndAlone: 'waits-end-alone',
  /** Notices of questions stay when something else is released, and look at what is asked later. */
  noticesStay: 'notices-stay',
} as const;
