// `npm run defences`: takes out each defence of the stores in a copy of the project and runs the
// test that is to notice. Writes docs/defences.md; fails if a defence can go unnoticed. A part of a
// defence's name as argument runs those only and writes nothing.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mutations } from './defences/mutations.mjs';
import { writeTable } from './defences/write-table.mjs';
import { startPrivateRedis } from './engines/private-engines.mjs';
import { findRedis } from './engines/redis.mjs';
import { projectRoot } from './system/project.mjs';
import { lastLines, runCommand } from './system/run-command.mjs';
import { runMain, UserError } from './system/user-error.mjs';

const COPIED = [
  'package.json',
  'tsconfig.json',
  'jest.config.js',
  'protocol',
  'stores',
  'scripts',
  'test',
];

/** A copy of what the store's tests need, with the packages of the original. */
function copyProject() {
  const copy = mkdtempSync(join(tmpdir(), 'helix-defences-'));
  for (const name of COPIED) cpSync(join(projectRoot, name), join(copy, name), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** What became of each test of a file; `only` names one of them. */
async function runTests(copy, suite, env, only) {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  // A test that waits for what never comes is a test that failed.
  const patience = ['--forceExit', '--testTimeout=10000'];
  const options = [...patience, '--json', `--outputFile=${report}`, '--runTestsByPath', suite];
  if (only) options.push('-t', `^${only.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
  const { stderr } = await runCommand(
    process.execPath,
    ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', ...options],
    { cwd: copy, env },
  );
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
    return new Map(tests.map(({ fullName, status }) => [fullName, status]));
  } catch {
    throw new UserError(`${suite} cannot be run:\n${lastLines(stderr)}`);
  }
}

/** The text with the defence taken out. */
function takeOut(text, { defence, edits }) {
  for (const [search, replace] of edits) {
    if (text.split(search).length !== 2) {
      throw new UserError(`${defence}: this does not stand there exactly once:\n${search}`);
    }
    text = text.replace(search, () => replace);
  }
  return text;
}

async function tryMutation(copy, mutation, env) {
  const { file, suite, test } = mutation;
  const original = readFileSync(join(copy, file), 'utf8');
  writeFileSync(join(copy, file), takeOut(original, mutation));
  try {
    const after = (await runTests(copy, suite, env, test)).get(test);
    return after === 'failed' ? 'noticed' : `NOT NOTICED (${after})`;
  } finally {
    writeFileSync(join(copy, file), original);
  }
}

/** Which of the tests pass as things are. */
async function runSuites(copy, suites, env) {
  const passed = new Set();
  for (const suite of suites) {
    for (const [name, status] of await runTests(copy, suite, env)) {
      if (status === 'passed') passed.add(`${suite} ${name}`);
    }
  }
  return passed;
}

await runMain(async () => {
  const [part = ''] = process.argv.slice(2);
  const chosen = mutations.filter(({ defence }) => defence.includes(part));
  const copy = copyProject();
  const redis = await startPrivateRedis({ file: await findRedis() });
  // Temporal is not needed, but the tests' set-up would start one.
  const given = { TEST_REDIS_URL: redis.url, TEST_TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const env = { ...process.env, TEMPORAL_CLI_PATH: '-', REDIS_SERVER_PATH: '-', ...given };
  let survivors = 0;
  try {
    const passed = await runSuites(copy, new Set(chosen.map(({ suite }) => suite)), env);
    for (const mutation of chosen) {
      const outcome = passed.has(`${mutation.suite} ${mutation.test}`)
        ? await tryMutation(copy, mutation, env)
        : 'NOT PASSING AS IT IS';
      if (outcome !== 'noticed') survivors += 1;
      process.stdout.write(`${outcome} ${mutation.defence}\n`);
    }
  } finally {
    await redis.close();
    rmSync(copy, { recursive: true, force: true });
  }
  process.stdout.write(`${chosen.length - survivors} of ${chosen.length} defences are noticed\n`);
  if (survivors > 0) process.exitCode = 1;
  else if (part === '') writeTable(mutations);
});
