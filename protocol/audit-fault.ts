import type { AuditVerdictReply } from './audit.js';

/** What is wrong with an audit trail, in words for people. Pure. */
export function describeFault({ n, reason }: NonNullable<AuditVerdictReply['fault']>): string {
  if (reason !== 'unexpected') return `Entry ${String(n)} is not as it was written: ${reason}.`;
  const newest = `the newest entry that was noted (number ${String(n - 1)})`;
  return `Something stands behind ${newest}, or that note is gone. docs/audit.md says how to repair it.`;
}
