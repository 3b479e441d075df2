import { formatTable, meetsAim, summarize, type Aim, type Row } from '../../bench/report.js';

const ROW: Row = {
  what: 'chunk latency',
  unit: 'ms',
  value: { p50: 2, p99: 12 },
  beside: { what: 'floor', value: { p50: 1, p99: 10 } },
};

it.each<[string, Aim, boolean]>([
  ["the median's factor", { ratio: 2 }, true],
  ["the median's factor, missed", { ratio: 1.9 }, false],
  ['the factor of p99', { ratio: 2, ratioP99: 1.2 }, true],
  ['the factor of p99, missed', { ratio: 2, ratioP99: 1.1 }, false],
  ['figures', { p50: 2, p99: 12 }, true],
  ['a figure, missed', { p50: 1.9, p99: 12 }, false],
  ['a figure of p99, missed', { p50: 2, p99: 11 }, false],
  ['the least factor', { ratioAtLeast: 2 }, true],
  ['the least factor, missed', { ratioAtLeast: 2.1 }, false],
])('an aim is met or missed by %s', (_, aim, isMet) => {
  expect(meetsAim({ ...ROW, aim })).toBe(isMet);
  expect(formatTable([{ ...ROW, aim }])).toMatch(isMet ? / met$/ : / MISSED$/);
});

it('a figure that is missing meets no aim', () => {
  const { beside: _, ...alone } = { ...ROW, value: { p50: NaN } };
  expect(meetsAim({ ...alone, aim: { p50: 5 } })).toBe(false);
  expect(meetsAim({ ...ROW, value: { p50: 1 }, aim: { ratioP99: 5 } })).toBe(false);
  expect(meetsAim({ ...alone, aim: { ratio: 5 } })).toBe(false);
  expect(meetsAim({ ...alone, aim: { p99: 5 } })).toBe(false);
});

it('the table shows both factors and the whole aim', () => {
  const aim = { ratio: 2, ratioP99: 1, p99: 10 };
  const [header, rule, line] = formatTable([{ ...ROW, aim }]).split('\n');
  expect(header).toContain(
    'what           unit   p50   p99  beside it   p50   p99          ratio  aim',
  );
  expect(rule).toContain('-------------  ----  ----  ----  ---------  ----  ----');
  expect(line).toContain('chunk latency  ms    2.00  12.0  floor      1.00  10.0');
  expect(line).toContain('2.00× / 1.20×  ≤ 2×, p99 ≤ 1×, p99 ≤ 10');
});

it('percentiles are samples, by the nearest rank', () => {
  const samples = Array.from({ length: 200 }, (_, at) => 200 - at);
  expect(summarize(samples)).toEqual({ p50: 100, p99: 198, count: 200 });
  expect(summarize([7])).toEqual({ p50: 7, p99: 7, count: 1 });
  expect(summarize([])).toEqual({ p50: NaN, p99: NaN, count: 0 });
});
