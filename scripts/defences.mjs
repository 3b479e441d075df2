// `npm run defences`: takes out each defence in a copy of the project and runs the test that must
// notice. Writes docs/defences.md; fails if a missing defence is not noticed. A part of a defence's
// name as argument runs those only and writes nothing; `--list` writes the list and runs nothing.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileTransitions } from './build/compile-transitions.mjs';
import { formatList } from './defences/format-list.mjs';
import { mutations } from './defences/mutations.mjs';
import { takeOut } from './defences/take-out.mjs';
import { startPrivateRedis, startPrivateTemporal } from './engines/private-engines.mjs';
import { TEST_TEMPORAL_CONFIG, testEnvironment } from './engines/test-environment.mjs';
import { projectRoot } from './system/project.mjs';
import { lastLines, runCommand } from './system/run-command.mjs';
import { runMain } from './system/user-error.mjs';

const COPIED = [
  '.ci',
  '.dependency-cruiser.cjs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'jest.config.js',
  'index.ts',
  'protocol',
  'agents',
  'bench',
  'clients',
  'workflows',
  'activities',
  'executor',
  'in-process',
  'notify',
  'testing',
  'stores',
  'tracing',
  'worker',
  'notify',
  'ai-sdk',
  'api',
  'cli',
  'web',
  'config',
  'docker-compose.yml',
  'docs',
  'examples',
  'ops',
  'scripts',
  'test',
];

/** Tests of the product itself, which is run from what is built. */
const OF_PRODUCT = /^test\/(clients|e2e|fronts|page)\//;
/** Tests in a real browser. */
const OF_PAGE = /^test\/page\//;
/** Tests that run the transitions as they are; all others run them inside Redis. */
const IN_PROCESS = /^test\/stores\/(conformance\/memory\.|memory\/|transitions\/)/;

/** A copy of what the tests need, with the packages of the original. */
async function copyProject() {
  const copy = mkdtempSync(join(tmpdir(), 'helix-defences-'));
  for (const name of COPIED) cpSync(join(projectRoot, name), join(copy, name), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
  await compileLibrary(copy);
  return copy;
}

/** Compiles the copy's transitions for Redis, if they have changed. */
function compileLibrary(copy) {
  return compileTransitions(copy, join(copy, 'dist'), 'defences');
}

/** Outcomes of the tests of a file with these names; empty if the file cannot be run. */
async function runTests(copy, suite, env, { names, patience = [] }) {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  if (OF_PRODUCT.test(suite)) {
    const built = await runCommand(process.execPath, ['scripts/build.mjs', '--quiet'], {
      cwd: copy,
    });
    if (built.code !== 0) throw new Error(`the copy cannot be built:\n${lastLines(built.stderr)}`);
  } else if (!IN_PROCESS.test(suite)) {
    await compileLibrary(copy);
  }
  const options = [...patience, '--forceExit', '--json', `--outputFile=${report}`];
  options.push('--runTestsByPath', suite);
  const patterns = names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  options.push('-t', `^(${patterns.join('|')})$`);
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
    process.stderr.write(`${suite} cannot be run:\n${lastLines(stderr)}\n`);
    return new Map();
  }
}

async function tryMutation(copy, mutation, env) {
  const { file, suite, test } = mutation;
  const original = readFileSync(join(copy, file), 'utf8');
  const { text, missing } = takeOut(original, mutation);
  if (missing !== undefined) return `NOT THERE EXACTLY ONCE (${missing})`;
  writeFileSync(join(copy, file), text);
  try {
    // A test that waits for what never happens has failed.
    const patience = [`--testTimeout=${OF_PRODUCT.test(suite) ? 30_000 : 10_000}`];
    const after = (await runTests(copy, suite, env, { names: [test], patience })).get(test);
    return after === 'failed' ? 'noticed' : `NOT NOTICED (${after})`;
  } catch (error) {
    // An edit that does not compile any more; the other defences are tried all the same.
    return `NOT RUN (${error.message.trim()})`;
  } finally {
    writeFileSync(join(copy, file), original);
  }
}

/** The tests that pass with all defences in place. */
async function runSuites(copy, chosen, env) {
  const passed = new Set();
  for (const suite of new Set(chosen.map((mutation) => mutation.suite))) {
    const ofSuite = chosen.filter((mutation) => mutation.suite === suite);
    const names = [...new Set(ofSuite.map(({ test }) => test))];
    for (const [name, status] of await runTests(copy, suite, env, { names })) {
      if (status === 'passed') passed.add(`${suite} ${name}`);
    }
  }
  return passed;
}

const [argument = ''] = process.argv.slice(2);

await runMain(() => (argument === '--list' ? writeList() : tryDefences(argument)));

async function tryDefences(part) {
  const chosen = mutations.filter(({ defence }) => defence.includes(part));
  const copy = await copyProject();
  const programs = await testEnvironment({
    withBrowser: chosen.some(({ suite }) => OF_PAGE.test(suite)),
  });
  // Shared by all tests: otherwise each run of a test would start its own.
  const redis = await startPrivateRedis({ file: programs.REDIS_SERVER_PATH });
  const temporal = await startPrivateTemporal({
    file: programs.TEMPORAL_CLI_PATH,
    dynamicConfig: TEST_TEMPORAL_CONFIG,
  });
  const engines = { TEST_REDIS_URL: redis.url, TEST_TEMPORAL_ADDRESS: temporal.address };
  const env = { ...process.env, ...programs, ...engines };
  let survivors = 0;
  try {
    const passed = await runSuites(copy, chosen, env);
    for (const mutation of chosen) {
      const outcome = passed.has(`${mutation.suite} ${mutation.test}`)
        ? await tryMutation(copy, mutation, env)
        : 'NOT PASSING AS IT IS';
      if (outcome !== 'noticed') survivors += 1;
      process.stdout.write(`${outcome} ${mutation.defence}\n`);
    }
  } finally {
    await Promise.all([redis.close(), temporal.close()]);
    rmSync(copy, { recursive: true, force: true });
  }
  process.stdout.write(`${chosen.length - survivors} of ${chosen.length} defences are noticed\n`);
  if (survivors > 0) process.exitCode = 1;
  else if (part === '') writeList();
}

function writeList() {
  writeFileSync(join(projectRoot, 'docs/defences.md'), formatList(mutations));
}
