import type { PendingQuestion } from '../../protocol/http.js';

/** Who has to decide about a call in place of the one who reads this. Pure. */
export function describeApprovers({
  approvers = [],
  separateApprover = false,
}: Pick<PendingQuestion, 'approvers' | 'separateApprover'>): string {
  const roles = approvers.map((role) => `“${role}”`);
  if (roles.length > 0) return `A colleague with the role ${roles.join(' or ')} has to agree.`;
  return separateApprover ? 'Another person than you has to agree.' : 'A colleague has to agree.';
}
