// Runs checks that `npm test` has no time for. Further arguments go to jest.
//   npm run matrix -- --all     every version of the clients, where `npm test` takes the newest of each major
//   npm run explore -- --deep   every budget of the explorer, where `npm test` takes the smallest ones
//   npm run kill -- --all       every place at which a worker can die, where `npm test` takes a few
//   npm run bodies -- --all     every body that could block the API, where `npm test` takes every fifth
//   npm run fronts              the pages of examples/, installed and built by their own tools, in Chromium
//   npm run check:alerts        the dashboard and the alerts, by promtool and by a Prometheus that scrapes real processes
//   npm run proxies             kills a worker under replies through http-proxy, Vite, Next's rewrites and nginx
//   npm run record              plays every path of the workflow, and turns of a chat, and keeps them as those of this version
//   npm run examples            compiles the code in documents, comments and samples; a part of `npm run verify`
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPrometheus } from './engines/prometheus.mjs';
import { projectRoot, runMain, UserError } from './system/project.mjs';
import { runInForeground } from './system/run-command.mjs';

const COMMANDS = {
  matrix: {
    args: ['test/clients/', 'test/ai-sdk/reload-everywhere'],
    option: '--all',
    env: { CLIENT_VERSIONS: 'all' },
  },
  explore: {
    args: ['test/states/model/explore'],
    option: '--deep',
    env: { EXPLORE: 'deep' },
  },
  kill: {
    args: ['test/e2e/kill-points'],
    option: '--all',
    env: { KILL_POINTS: 'all' },
  },
  bodies: { args: ['test/e2e/large-bodies'], option: '--all', env: { BODIES: 'all' } },
  fronts: { args: ['test/fronts/', '--testMatch=<rootDir>/test/fronts/*.verify.ts', '-i'] },
  examples: {
    args: ['test/(docs|seeds)/', '--testMatch=<rootDir>/test/{docs,seeds}/*.verify.{ts,mjs}', '-i'],
  },
  'check:alerts': { args: ['test/ops'], prepare: requirePrometheus },
  proxies: { args: ['test/e2e/', '--testMatch=<rootDir>/test/e2e/*.verify.ts', '-i'] },
  record: {
    args: ['recording.record', '--testMatch=<rootDir>/test/{workflows,ai-sdk}/*.record.ts', '-i'],
  },
};

await runMain(async () => {
  const [name, ...given] = process.argv.slice(2);
  const command = Object.hasOwn(COMMANDS, name ?? '') ? COMMANDS[name] : undefined;
  if (command === undefined) {
    throw new UserError(`There is no ${name}; there are ${Object.keys(COMMANDS).join(', ')}.`);
  }
  const rest = given.filter((argument) => argument !== command.option);
  const isWhole = command.option === undefined || rest.length < given.length;
  await command.prepare?.();
  const lastRun = join(projectRoot, '.data', 'on-demand', `${name}.txt`);
  const last = existsSync(lastRun) ? readFileSync(lastRun, 'utf8').trim() : 'never on this machine';
  process.stdout.write(`Last run of all of it: ${last}\n`);
  process.exitCode = await runInForeground(
    process.execPath,
    [join(projectRoot, 'scripts', 'test.mjs'), ...command.args, ...rest],
    { cwd: projectRoot, env: { ...process.env, ...(isWhole && command.env) } },
  );
  if (!isWhole) return;
  mkdirSync(join(lastRun, '..'), { recursive: true });
  const verdict = process.exitCode === 0 ? 'passed' : 'failed';
  writeFileSync(lastRun, `${new Date().toISOString()}, ${verdict}\n`);
});

async function requirePrometheus() {
  if (await findPrometheus()) return;
  throw new UserError('Prometheus was not found: install it with its promtool, and try again.');
}
