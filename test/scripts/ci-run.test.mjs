import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { projectRoot } from '../../scripts/system/project.mjs';

let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'helix-ci-'));
  cpSync(join(projectRoot, '.ci'), join(folder, '.ci'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

const GREEN = { tests: ['12 passed, 0 failed', 0], verify: 0, containers: 0 };

/** Runs `.ci/run` with an npm that prints these lines and exits with these codes. */
function runCi({ tests: [line, code], verify, containers }) {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const npm = join(bin, 'npm');
  writeFileSync(
    npm,
    `#!/bin/sh
case "$*" in
  test) printf '%s\\n' 'some output' '${line}'; exit ${code} ;;
  "run verify") exit ${verify} ;;
  "run rehearse:containers -- --short") exit ${containers} ;;
  *) echo "unexpected: npm $*"; exit 99 ;;
esac
`,
  );
  chmodSync(npm, 0o755);
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  return new Promise((resolve) => {
    execFile(join(folder, '.ci/run'), { env }, (error, stdout) => {
      resolve([stdout.trimEnd().split('\n').at(-1), error === null ? 0 : error.code]);
    });
  });
}

it.each([
  ['succeeds if nothing failed', GREEN, ['12 passed, 0 failed', 0]],
  ['fails with a test', { tests: ['10 passed, 2 failed', 1] }, ['10 passed, 2 failed', 1]],
  [
    'fails if the tests end without their counts',
    { tests: ['Killed', 137] },
    ['0 passed, 1 failed', 1],
  ],
  [
    'fails if jest does, though all tests passed',
    { tests: ['12 passed, 0 failed', 1] },
    ['12 passed, 1 failed', 1],
  ],
  ['counts checks that fail as one failure', { verify: 1 }, ['12 passed, 1 failed', 1]],
  ['and containers', { verify: 1, containers: 1 }, ['12 passed, 2 failed', 1]],
])('.ci/run %s', async (_, how, expected) => {
  expect(await runCi({ ...GREEN, ...how })).toEqual(expected);
});
