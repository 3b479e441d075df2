import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { findProcesses } from './support/programs.js';
import { CLIENT_7, openChat, untilAsked } from '../support/chat-client.js';
import { shareBrowser } from '../support/page-driver.js';
import { newSessionId } from '../support/product.js';
import { requireProgram } from '../support/require-program.js';
import { until } from '../support/until.js';
import { installInto, tarball, type Project } from './support/project.js';

const run = promisify(execFile);
let project: Project;
let browser: Browser;
let output: () => string;

/** Commands of docs/install.md that make a new app: from a packed clone, and from a registry. */
const [clone = [], registry = []] = [
  ...(await readFile('docs/install.md', 'utf8')).matchAll(/^```sh\n(.*?)^```$/gms),
].map(([, code = '']) => code.trim().split('\n'));

beforeAll(async () => {
  browser = await shareBrowser();
  const [, create = '', enter, install, dev = ''] = clone;
  expect([enter, install]).toEqual(['cd ../my-app', 'npm install']);
  const parent = await mkdtemp(join(tmpdir(), 'helix-init-'));
  const packed = join(parent, 'helix-temporal');
  await mkdir(packed);
  await copyFile(tarball(), join(packed, basename(tarball())));
  const { stdout } = await run('sh', ['-c', create], { cwd: packed });
  expect(stdout).toContain(`${dev}\n`);
  await forgetNpx(parent);
  project = await installInto([], {
    from: join(parent, 'my-app'),
    namesOurs: true,
    env: {
      TEMPORAL_CLI_PATH: requireProgram('TEMPORAL_CLI_PATH'),
      REDIS_SERVER_PATH: requireProgram('REDIS_SERVER_PATH'),
      // The test runner's NODE_ENV must not reach the app.
      NODE_ENV: 'development',
    },
  });
  await rm(parent, { recursive: true });
  output = await project.start('sh', ['-c', `exec ${dev}`], /Local: +http/);
}, 300_000);

/** Removes npx's copy of a tarball that is never requested again. */
async function forgetNpx(parent: string): Promise<void> {
  const { stdout } = await run('npm', ['config', 'get', 'cache']);
  const kept = join(stdout.trim(), '_npx');
  for (const name of await readdir(kept)) {
    const made = await readFile(join(kept, name, 'package.json'), 'utf8').catch(() => '');
    if (made.includes(basename(parent))) await rm(join(kept, name), { recursive: true });
  }
}

afterAll(async () => {
  await project.close();
});

const addressOf = (pattern: RegExp): string => {
  // Other programs colour their output.
  // oxlint-disable-next-line no-control-regex
  const plain = output().replace(/\u001b\[[\d;]*m/g, '');
  return (pattern.exec(plain)?.[1] ?? '').replace(/\/$/, '');
};
const pageUrl = (): string => addressOf(/Local: +(http\S+)/);
const payments = (): Promise<string> =>
  readFile(join(project.folder, 'payments.log'), 'utf8').catch(() => '');

async function killWorker(): Promise<void> {
  const main = join(project.folder, 'node_modules/helix-temporal/dist/worker/main.js');
  const pids = await findProcesses(main);
  expect(pids).toHaveLength(1);
  process.kill(pids[0] ?? 0, 'SIGKILL');
}

it('the commands for a package in a registry make the same app', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'helix-create-'));
  const [create, enter, ...rest] = registry;
  // `npm create helix-temporal` runs the package create-helix-temporal, which no registry has.
  expect(create).toBe('npm create helix-temporal my-app');
  const asNpm = ['exec', '--yes', '--package', tarball('HELIX_CREATOR'), '--'];
  const { stdout } = await run('npm', [...asNpm, 'create-helix-temporal', 'my-app'], {
    cwd: parent,
  });
  expect(stdout).toContain([enter, ...rest].map((step) => `  ${step ?? ''}\n`).join(''));
  expect(rest).toEqual(['npm install', clone.at(-1)]);
  await rm(parent, { recursive: true });
});

it('the app is named after its folder, and its tests, types and build pass', async () => {
  const { name } = JSON.parse(await readFile(join(project.folder, 'package.json'), 'utf8')) as {
    name: string;
  };
  expect(name).toBe('my-app');
  expect(basename(project.folder)).toMatch(/^helix-stranger/);
  expect(await project.run('npm', ['test'])).toMatch(/2 passed/);
  await project.run('npm', ['run', 'types']);
  await project.run('npm', ['run', 'build']);
}, 180_000);

it('a stock client talks to it through the page’s server; a refund approved after kill -9 is paid once', async () => {
  const client = openChat(CLIENT_7, { url: pageUrl(), sessionId: newSessionId(), agent: 'desk' });
  await client.chat.sendMessage({ text: 'I want a refund for order 1042' });
  const id = await untilAsked(client);
  expect(await payments()).toBe('');
  await killWorker();
  await client.chat.addToolApprovalResponse({ id, approved: true });
  await until('the refund is confirmed', () => client.reply().includes('on its way'));
  expect((await payments()).trim().split('\n')).toHaveLength(1);
}, 120_000);

it('its page streams, asks, survives a reload and shows the decision', async () => {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  await page.goto(pageUrl(), { waitUntil: 'networkidle' });
  await page.getByLabel('Message').fill('I want a refund for order 1042');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('on its way').waitFor();
  expect((await payments()).trim().split('\n')).toHaveLength(2);
  expect(faults).toEqual([]);
}, 120_000);
