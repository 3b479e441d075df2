import type { AuditReply, AuditVerdictReply } from './audit.js';

/** What is wrong with an audit trail, in words for people. Pure. */
export function describeFault({ n, reason }: NonNullable<AuditVerdictReply['fault']>): string {
  if (reason !== 'unexpected') return `Entry ${String(n)} is not as it was written: ${reason}.`;
  const newest = `the newest entry that was noted (number ${String(n - 1)})`;
  return `Something stands behind ${newest}, or that note is gone. docs/audit.md says how to repair it.`;
}

/** What an operator asks another one for, in words for people. Pure. */
export function describeRequest({
  action,
  subject,
  by,
  until,
}: NonNullable<AuditReply['requests']>[number]): string {
  const what =
    action === 'forget'
      ? `to erase ${subject} (user delete ${subject})`
      : `to open the name of ${subject} (audit open ${subject})`;
  return `${by} asks ${what}. Another operator may do the same until ${new Date(until).toISOString()}.`;
}
