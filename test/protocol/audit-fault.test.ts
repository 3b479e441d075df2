import { describeFault } from '../../protocol/audit-fault.js';

it('the words about something unexpected name the newest entry that was noted, not the one behind it', () => {
  expect(describeFault({ n: 4, reason: 'changed' })).toBe(
    'Entry 4 is not as it was written: changed.',
  );
  expect(describeFault({ n: 45, reason: 'unexpected' })).toMatch(
    /^Something stands behind the newest entry that was noted \(number 44\), or that note is gone\./,
  );
});
