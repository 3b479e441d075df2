import type { RenewalReport } from './renewals.js';

/**
 * Joins the reports of several sources, of which each takes over from the one before: as long as
 * there is no gap between them, renewals have succeeded since the first one's.
 *
 * @param now a clock that all sources share, ms
 * @returns begins another source
 */
export function inSequence(
  onReport: (report: RenewalReport) => void,
  leaseMs: number,
  now: () => number,
): () => (report: RenewalReport) => void {
  let newest: RenewalReport | undefined;
  return () => {
    let first: number | undefined;
    let since = 0;
    return (report) => {
      if (first === undefined) {
        first = report.steadySince;
        const isJoined = newest !== undefined && now() - newest.sentAt < leaseMs;
        since = isJoined && newest !== undefined ? newest.steadySince : first;
      }
      const { steadySince } = report;
      newest = { ...report, steadySince: steadySince === first ? since : steadySince };
      onReport(newest);
    };
  };
}
