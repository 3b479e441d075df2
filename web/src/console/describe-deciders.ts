import type { OperatorQuestion } from '../../../protocol/operator.js';

/** Who has to decide a question in place of the one who reads this. Pure. */
export function describeDeciders({
  missingRoles = [],
  mayWithdraw,
  separateApprover = false,
}: Pick<OperatorQuestion, 'missingRoles' | 'mayWithdraw' | 'separateApprover'>): string {
  if (missingRoles.length === 0) {
    return mayWithdraw === true
      ? 'You have asked for this, so another person has to agree.'
      : 'Another person has to decide this.';
  }
  const roles = missingRoles.map((role) => `“${role}”`).join(' or ');
  const others = ' It cannot be the one who asked, nor who began the run again.';
  return `This needs the role ${roles}.${separateApprover ? others : ''}`;
}
