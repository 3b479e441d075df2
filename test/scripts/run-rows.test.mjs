import { runRows } from '../../scripts/verify.mjs';

/** Runs rows whose scripts end with these codes when the test says so. */
function rowsOf(rows, codes = {}) {
  const begun = [];
  const ends = new Map();
  const printed = [];
  const run = (name) => {
    begun.push(name);
    return new Promise((resolve) => {
      ends.set(name, () => resolve({ code: codes[name] ?? 0, output: `${name} spoke\n` }));
    });
  };
  const outcome = runRows(rows, { run, say: (text) => printed.push(text) });
  const end = async (name) => {
    ends.get(name)();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, printed, outcome, end };
}

it('rows run beside each other, and the scripts of a row one after the other', async () => {
  const { begun, end, outcome } = rowsOf([['a', 'b'], ['c']]);
  expect(begun).toEqual(['a', 'c']);
  await end('a');
  expect(begun).toEqual(['a', 'c', 'b']);
  await end('c');
  await end('b');
  expect(await outcome).toEqual({ passed: ['a', 'c', 'b'], failed: [] });
});

it('what a script prints is shown under its name when it ends', async () => {
  const { printed, end, outcome } = rowsOf([['a'], ['b']]);
  await end('b');
  expect(printed).toEqual(['\n── b, 0 s\nb spoke\n']);
  await end('a');
  await outcome;
});

it('after a script that failed none begins, in any row', async () => {
  const { begun, end, outcome } = rowsOf([['a', 'b'], ['c', 'd'], ['e']], { a: 2 });
  await end('a');
  await end('c');
  await end('e');
  expect(begun).toEqual(['a', 'c', 'e']);
  expect(await outcome).toEqual({ passed: ['c', 'e'], failed: ['a'] });
});

it.each([
  ['a signal', undefined],
  ['an error', 1],
])('a script that %s ends has failed', async (_how, code) => {
  const run = async () => ({ code, output: '' });
  const say = () => undefined;
  expect((await runRows([['a']], { run, say })).failed).toEqual(['a']);
});
