// `npm run five-minutes`: a person's first five minutes, from the packed package to an approved refund
// after a killed worker, in an empty folder and in Chromium. Prints how long each stage took, and keeps
// pictures in .data/five-minutes. It ends with an error unless the refund was paid once, was approved after
// the worker had gone, and all of it took five minutes at most.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { chromium } from 'playwright-core';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { judgeFirstMinutes } from './package/judge-first-minutes.mjs';
import { pack } from './package/pack.mjs';
import { waitUntil } from './start/wait-until.mjs';
import { findProcesses } from './system/find-processes.mjs';
import { withProgress } from './system/progress.mjs';
import { projectRoot } from './system/project.mjs';
import { lastLines, runCommand } from './system/run-command.mjs';
import { startGroup } from './system/start-group.mjs';
import { runMain, UserError } from './system/user-error.mjs';

const PICTURES = join(projectRoot, '.data', 'five-minutes');
const ASKED = 'I want a refund for order 1042';
const SIZE = { width: 900, height: 700 };
const GONE_WITHIN_MS = 5_000;
/** Ours, not the person's: a registry has it done. */
const PACKING = 'npm pack, which a registry has done';

await runMain(async () => {
  await installPackages();
  const programs = await testEnvironment();
  if (!programs.CHROMIUM_PATH) throw new UserError('the five minutes need a Chromium');
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'helix-five-minutes-')));
  const app = join(folder, 'my-shop');
  const env = { ...strangersEnvironment(), ...programs };
  const ends = [() => rmSync(folder, { recursive: true, force: true })];
  const clock = createClock();
  try {
    const [product, creator] = await clock.stage(PACKING, async () => [
      await pack(folder),
      await pack(folder, { from: join(projectRoot, 'create') }),
    ]);
    const npm = (cwd, ...args) => run('npm', args, { cwd, env });
    await clock.stage('npm create helix-temporal my-shop', () =>
      npm(folder, 'exec', '--yes', '--package', creator, '--', 'create-helix-temporal', 'my-shop'),
    );
    await clock.stage('npm install', () => npm(app, 'install', '--no-audit', '--no-fund', product));
    await clock.stage('npm test', () => npm(app, 'test'));
    const url = await clock.stage('npm run dev', async () => {
      const says = /Local: .*http\S+/;
      const program = await startGroup('npm', ['run', 'dev'], { cwd: app, env, says });
      ends.push(program.stop);
      // oxlint-disable-next-line no-control-regex
      return /Local: +(http\S+)/.exec(program.output().replace(/\u001b\[[\d;]*m/g, ''))[1];
    });
    const browser = await chromium.launch({
      executablePath: programs.CHROMIUM_PATH,
      args: ['--no-sandbox'],
    });
    ends.push(() => browser.close());
    const page = await browser.newPage({ viewport: SIZE });
    await play({ page, url, app, clock });
    await judge({ page, app, clock });
  } finally {
    for (const end of ends.reverse()) await end();
  }
});

/** What a person does: asks, loses the worker while the question waits, approves all the same. */
async function play({ page, url, app, clock }) {
  mkdirSync(PICTURES, { recursive: true });
  const picture = (name) => page.screenshot({ path: join(PICTURES, `${name}.png`) });
  const approve = page.getByRole('button', { name: 'Approve' });
  await clock.stage('ask for a refund in the chat', async () => {
    await page.goto(url);
    await page.getByLabel('Message').fill(ASKED);
    await page.getByRole('button', { name: 'Send' }).click();
    await approve.waitFor();
  });
  await picture('1-asked');
  if ((await readPayments(app)).length > 0) throw new UserError('it was paid before the approval');
  await clock.stage('kill -9 the worker, approve, see the refund', async () => {
    const [worker] = await findWorkers(app);
    if (worker === undefined) throw new UserError('no worker was found to kill');
    process.kill(worker, 'SIGKILL');
    await untilGone(worker, app);
    await approve.click();
    await picture('2-approved-without-a-worker');
    await page.getByText('on its way').waitFor();
    const [next] = await findWorkers(app);
    if (next === undefined || next === worker) throw new UserError('the worker was not replaced');
  });
  await picture('3-paid');
}

async function judge({ page, app, clock }) {
  await clock.stage('reload the page', async () => {
    await page.reload();
    await page.getByText('on its way').waitFor();
  });
  const isAskedAgain = await page.getByRole('button', { name: 'Approve' }).count();
  process.stdout.write(`${clock.table()}\nPictures are in ${PICTURES}.\n`);
  const found = { paid: await readPayments(app), isAskedAgain: isAskedAgain > 0 };
  process.stdout.write(`${judgeFirstMinutes({ ...found, seconds: clock.personal() })}\n`);
}

/** The answer is given only once the killed worker is really away. */
async function untilGone(worker, app) {
  const isGone = async () => !(await findWorkers(app)).includes(worker);
  if (!(await waitUntil(isGone, { withinMs: GONE_WITHIN_MS }))) {
    throw new UserError(`the worker ${worker} has survived its kill`);
  }
}

function findWorkers(app) {
  return findProcesses(join(app, 'node_modules/helix-temporal/dist/worker/main.js'));
}

/** The payments of the app: a line each. */
async function readPayments(app) {
  const text = await readFile(join(app, 'payments.log'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

/** Nothing of this project is on the path of a stranger, and nothing that `npm run` sets. */
function strangersEnvironment() {
  const { PATH = '', HOME } = process.env;
  const paths = PATH.split(delimiter).filter((path) => !path.startsWith(projectRoot));
  return { PATH: paths.join(delimiter), HOME };
}

/** @throws UserError with the end of what it printed */
async function run(file, args, options) {
  const { code, stdout, stderr } = await runCommand(file, args, options);
  if (code === 0) return;
  throw new UserError(`${[file, ...args].join(' ')} failed:\n${lastLines(stdout + stderr, 30)}`);
}

function createClock() {
  const taken = [];
  const sum = (stages) => stages.reduce((total, [, seconds]) => total + seconds, 0);
  const line = (name, seconds) => `${seconds.toFixed(1).padStart(7)} s  ${name}`;
  return {
    /** What a person waited for, s. */
    personal: () => sum(taken.filter(([name]) => name !== PACKING)),
    stage: async (name, work) => {
      const from = performance.now();
      const result = await withProgress(name, work);
      taken.push([name, (performance.now() - from) / 1_000]);
      return result;
    },
    table: () => [...taken.map((each) => line(...each)), line('in all', sum(taken))].join('\n'),
  };
}
