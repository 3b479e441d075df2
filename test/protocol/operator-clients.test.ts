import { describeFault, describeRequest, findRuns } from '../../protocol/operator-clients.js';
import type { RunStatus } from '../../protocol/run.js';

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

const LIST = ['running', 'waiting_tool', 'running', 'failed'].map((status, n) => ({
  runId: `r${String(n)}`,
  status: status as RunStatus,
}));
/** A list in pages of one run. */
const read = ({ status, cursor = '0' }: Record<string, string | undefined>) => {
  const runs = LIST.filter((run) => run.status === status);
  const next = Number(cursor) + 1;
  return Promise.resolve({
    runs: runs.slice(Number(cursor), next),
    ...(next < runs.length && { cursor: String(next) }),
  });
};
it.each([
  [undefined, ['r0', 'r2', 'r1']],
  ['running', ['r0', 'r2']],
  ['failed', []],
])(
  'the search for the runs of an act reads all pages of each suited status, of which the filter wants %s',
  async (status, ids) => {
    const found = await findRuns(read, { status }, ['running', 'waiting_tool']);
    expect(found.map((run) => run.runId)).toEqual(ids);
  },
);
