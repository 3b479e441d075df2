import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { begunAfter, countTests, readFiles, tryAgain } from '../../scripts/test-files.mjs';

let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'helix-report-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const PASSED = { passed: 2, failed: 0, skipped: 0 };
const FAILED = { passed: 1, failed: 1, skipped: 0 };

const failing = (count) =>
  new Map(Array.from({ length: count }, (_, at) => [`/f${String(at)}`, FAILED]));

it('counts the tests of each file; a file that was not loaded is a failure', () => {
  const path = join(folder, 'report.json');
  const test = (status) => ({ status });
  const testResults = [
    { name: '/a', status: 'passed', assertionResults: [test('passed'), test('pending')] },
    { name: '/b', status: 'failed', assertionResults: [test('passed'), test('failed')] },
    { name: '/c', status: 'failed', assertionResults: [] },
  ];
  writeFileSync(path, JSON.stringify({ testResults }));
  expect(countTests(readFiles(path))).toEqual({ passed: 2, failed: 2, skipped: 1 });
});

it('names the files that began after the deadline', () => {
  const path = join(folder, 'report.json');
  const testResults = [
    { name: '/a', status: 'passed', startTime: 10, assertionResults: [] },
    { name: '/b', status: 'passed', startTime: 11, assertionResults: [] },
  ];
  writeFileSync(path, JSON.stringify({ testResults }));
  expect(begunAfter(readFiles(path), 10)).toEqual(['/b']);
  expect(begunAfter(readFiles(join(folder, 'none.json')), 10)).toEqual([]);
});

it('a missing report is a failure', () => {
  expect(countTests(readFiles(join(folder, 'none.json'))).failed).toBe(1);
});

it('a failed file that passes alone counts as passed, and is named', async () => {
  const lines = [];
  const first = {
    code: 1,
    files: new Map([
      ['/a', PASSED],
      ['/b', FAILED],
    ]),
  };
  const runJest = async (options) => {
    expect(options).toEqual(['--runInBand', '--runTestsByPath', '/b']);
    return { code: 0, files: new Map([['/b', PASSED]]) };
  };
  const { code, files } = await tryAgain(first, runJest, (line) => lines.push(line));
  expect([code, countTests(files)]).toEqual([0, { passed: 4, failed: 0, skipped: 0 }]);
  expect(lines).toEqual(['failed beside others, passed alone: /b']);
});

it('a file that fails twice stays failed', async () => {
  const second = { code: 1, files: failing(1) };
  const { code, files } = await tryAgain({ code: 1, files: failing(1) }, async () => second);
  expect([code, countTests(files).failed]).toEqual([1, 1]);
});

it.each([
  ['nothing failed', { code: 0, files: new Map([['/a', PASSED]]) }],
  ['jest failed after tests that passed', { code: 1, files: new Map([['/a', PASSED]]) }],
  ['many files failed', { code: 1, files: failing(4) }],
])('tries nothing again if %s', async (_name, first) => {
  const runJest = () => Promise.reject(new Error('jest ran again'));
  expect(await tryAgain(first, runJest)).toBe(first);
});
