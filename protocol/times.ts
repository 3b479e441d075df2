/**
 * Times after which the runtime acts by itself, ms. Tests and rehearsals that would wait for one of them set a shorter
 * one. Each process measures them by its own clock.
 */
export const TIMES = {
  /** A starting process waits this long for a server, and half as long for the reason why it does not answer. */
  serverMs: 10_000,
  /** A worker's lease lapses after this long without a renewal. */
  leaseMs: 1_500,
  renewMs: 400,
  /** Wait after the lapse of a lease, until Temporal has dropped the dead worker's polls. */
  graceMs: 300,
  /** A judge that did not see a lease lapse waits this long, while the lease stays lapsed. */
  unseenMs: 3_000,
  /** Started calls of a dead worker that may not be repeated are taken over only after this long. */
  patientMs: 10_000,
  /** A workflow task of a dead worker is given to another one after this long; Temporal's default is 10 s. */
  workflowTaskMs: 5_000,
  /**
   * Between looks at an active run, at workflows that Temporal closed, and for a current version.
   */
  lookAgainMs: 5_000,
  /** A request that forks a run has this long to resume its copy; then the sweeper does. */
  forkMs: 8_000,
  /** A notice that its receiver did not take is sent again after this long at least. */
  noticeRetryMs: 5_000,
};

export type Times = typeof TIMES;
