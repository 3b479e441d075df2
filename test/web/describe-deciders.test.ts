import { describeDeciders } from '../../web/src/console/waiting-question.js';

it.each([
  ['for lack of a role', { missingRoles: ['approver'] }, 'This needs the role “approver”.'],
  [
    'for lack of one of several, where four eyes are needed',
    { missingRoles: ['approver', 'operator'], separateApprover: true },
    'This needs the role “approver” or “operator”. It cannot be the one who asked, nor who began the run again.',
  ],
  [
    'since it is their own doing',
    { separateApprover: true, mayWithdraw: true },
    'You have asked for this, so another person has to agree.',
  ],
  ['by the function of the tool', {}, 'Another person has to decide this.'],
] as const)('a colleague who may not decide %s reads who may', (_why, question, text) => {
  const { missingRoles, ...others } = { missingRoles: undefined, ...question };
  expect(
    describeDeciders({ ...others, ...(missingRoles && { missingRoles: [...missingRoles] }) }),
  ).toBe(text);
});
