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

const GREEN = { first: ['12 passed, 0 failed', 0], long: ['5 passed, 0 failed', 0], verify: 0 };

/** Runs `.ci/run` where npm prints these lines and exits with these codes. */
function runCi({ first, long, verify }) {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const npm = join(bin, 'npm');
  const lane = ([line, code]) => `printf '%s\\n' 'some output' '${line}'; exit ${code}`;
  writeFileSync(
    npm,
    `#!/bin/sh
case "$*" in
  test) ${lane(first)} ;;
  "run test:long") ${lane(long)} ;;
  "run verify") exit ${verify} ;;
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

it('.ci/run adds the tests of both lanes up, and succeeds if none failed', async () => {
  expect(await runCi(GREEN)).toEqual(['17 passed, 0 failed', 0]);
});

it('.ci/run adds the failed tests of both lanes up', async () => {
  const lanes = { first: ['10 passed, 2 failed', 1], long: ['4 passed, 1 failed', 1] };
  expect(await runCi({ ...GREEN, ...lanes })).toEqual(['14 passed, 3 failed', 1]);
});

it('.ci/run counts a lane that ends without its counts as one failure', async () => {
  const killed = { first: ['11 passed, 1 failed', 1], long: ['Killed', 137] };
  expect(await runCi({ ...GREEN, ...killed })).toEqual(['11 passed, 2 failed', 1]);
});

it('.ci/run fails if a lane exits with an error after tests that all passed', async () => {
  const broken = { ...GREEN, first: ['12 passed, 0 failed', 1] };
  expect(await runCi(broken)).toEqual(['17 passed, 1 failed', 1]);
});

it('.ci/run counts checks that fail as one failure', async () => {
  expect(await runCi({ ...GREEN, verify: 1 })).toEqual(['17 passed, 1 failed', 1]);
});
