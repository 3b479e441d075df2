import type { AuditReply, AuditVerdictReply } from './audit.js';

export function describeFault({ n, reason }: NonNullable<AuditVerdictReply['fault']>): string {
  if (reason !== 'unexpected') return `Entry ${String(n)} is not as it was written: ${reason}.`;
  const newest = `the newest entry that was noted (number ${String(n - 1)})`;
  return `Something stands behind ${newest}, or that note is gone. docs/audit.md says how to repair it.`;
}

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
