import { KINDS } from '../../bench/soak/verdict.js';
import { PLANTED, readOptions } from '../../scripts/system/options.mjs';
import { runCommand } from '../../scripts/system/run-command.mjs';

const TABLE = {
  minutes: { takes: 'n', least: 0.5, default: 30, says: 'how long' },
  people: { takes: 'n', least: 1, default: 12, says: 'how many' },
  only: { takes: 'names', choices: ['one', 'two'], says: 'some' },
  all: { takes: 'names', choices: ['one', 'two'], default: 'all', says: 'all or some' },
  part: { takes: 'name', multiple: true, says: 'whose names contain it' },
  beside: { takes: 'folder', says: 'another build' },
  quick: { says: 'soon' },
};
const read = (...args) => readOptions('npm run it', TABLE, args);

test('options have their values, and their defaults', () => {
  const all = ['one', 'two'];
  expect(read()).toEqual({ minutes: 30, people: 12, only: [], all, quick: false });
  const given = ['--minutes', '0.5', '--only', 'two,one', '--beside', 'x', '--quick'];
  expect(read(...given)).toMatchObject({ minutes: 0.5, only: all, beside: 'x' });
  expect(read('--only', 'two', '--only', 'one,two', '--all', 'two')).toMatchObject({
    only: all,
    all: ['two'],
  });
  expect(read('--part', 'a', '--part', 'b').part).toEqual(['a', 'b']);
  expect(read('--only', 'all').only).toEqual(['one', 'two']);
});

test.each([
  [['--fast'], "Unknown option '--fast'"],
  [['fast'], "Unexpected argument 'fast'."],
  [['--minutes'], "Option '--minutes <value>' argument missing"],
  [['--minutes', '0.4'], '--minutes takes a number from 0.5: 0.4'],
  [['--minutes', 'x'], '--minutes takes a number from 0.5: x'],
  [['--people', '1.5'], '--people takes a whole number from 1: 1.5'],
  [['--only', 'one,three'], '--only takes all, or some of one, two: three'],
])('%j is refused in one line, with the usage', (args, fault) => {
  const usage = /\n\nUsage: npm run it -- \[options\]\n {2}--minutes <n> +how long; default: 30\n/;
  expect(() => read(...args)).toThrow(expect.objectContaining({ name: 'UsageError' }));
  expect(() => read(...args)).toThrow(fault);
  expect(() => read(...args)).toThrow(usage);
});

test('every kind of fault that a verdict counts can be planted', () => {
  expect(PLANTED.choices).toEqual(KINDS);
});

test('npm run bench tells its options at once, and shows no stack for a wrong one', async () => {
  const bench = (...args) => runCommand(process.execPath, ['scripts/bench.mjs', 'bench', ...args]);
  const [help, wrong] = await Promise.all([bench('--help'), bench('--fast')]);
  expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('--waiting') });
  expect(wrong).toMatchObject({ code: 1, stdout: '' });
  expect(wrong.stderr).toMatch(/^\nUnknown option '--fast'\n\nUsage: npm run bench -- \[options\]/);
});
