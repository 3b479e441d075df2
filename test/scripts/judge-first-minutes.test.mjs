import { afterEach, expect, it, jest } from '@jest/globals';
import { judgeFirstMinutes } from '../../scripts/package/judge-first-minutes.mjs';
import { runMain } from '../../scripts/system/user-error.mjs';

const GOOD = { paid: ['1042 20'], isAskedAgain: false, seconds: 28.4 };

afterEach(() => {
  process.exitCode = undefined;
  jest.restoreAllMocks();
});

/** The exit code of a script that judges this, and what it prints of the fault. */
async function endOf(found) {
  const printed = [];
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => printed.push(text) > 0);
  await runMain(async () => void judgeFirstMinutes({ ...GOOD, ...found }));
  return [process.exitCode ?? 0, printed.join('').trim()];
}

it('the first minutes end well if the refund was paid once within five minutes', async () => {
  expect(judgeFirstMinutes(GOOD)).toContain('paid once. 28 s after packing');
  expect(await endOf({ seconds: 300 })).toEqual([0, '']);
});

it.each([
  ['was not paid', { paid: [] }, 'paid 0 times'],
  ['was paid twice', { paid: ['1042 20', '1042 20'] }, 'paid 2 times: 1042 20, 1042 20'],
  ['is asked for again', { isAskedAgain: true }, 'asked for again'],
  ['came too late', { seconds: 301 }, 'It took 301 s: longer than five minutes.'],
])('the script of the first minutes exits with 1 if the refund %s', async (_, found, sentence) => {
  expect(await endOf(found)).toEqual([1, expect.stringContaining(sentence)]);
});
