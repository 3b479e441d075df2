import { describeFault, describeRequest } from '../../protocol/operator-clients.js';

it('the words about something unexpected name the newest entry that was noted, not the one behind it', () => {
  expect(describeFault({ n: 4, reason: 'changed' })).toBe(
    'Entry 4 is not as it was written: changed.',
  );
  expect(describeFault({ n: 45, reason: 'unexpected' })).toMatch(
    /^Something stands behind the newest entry that was noted \(number 44\), or that note is gone\./,
  );
});

it('the words about what two operators do name the command for the second one', () => {
  const asked = { by: 'ann', until: 0 };
  expect(describeRequest({ ...asked, action: 'forget', subject: 'bob' })).toBe(
    'ann asks to erase bob (user delete bob). Another operator may do the same until 1970-01-01T00:00:00.000Z.',
  );
  expect(describeRequest({ ...asked, action: 'open', subject: 'p-1' })).toContain(
    '(audit open p-1)',
  );
});
