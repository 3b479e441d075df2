// `npm run rehearse:containers`: docker-compose.yml and an app of `init` on a Docker engine, as their heads say.
// `--short`: the main file up, a reply, a kill, down. It installs what it needs where this is root on Debian, and
// leaves nothing but images, programs and a picture behind.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFirst } from './build.mjs';
import { openEngine } from './containers/engine.mjs';
import { fetchImages } from './containers/images.mjs';
import { rehearseApp } from './containers/rehearse-app.mjs';
import { rehearseProduct } from './containers/rehearse-product.mjs';
import { installPackages } from './install.mjs';
import { withProgress } from './system/progress.mjs';
import { projectRoot } from './system/project.mjs';
import { runCommand } from './system/run-command.mjs';
import { runMain, UserError } from './system/user-error.mjs';

const DOCUMENTED = [];
const FAULTS = [];

await runMain(async () => {
  const [option, ...others] = process.argv.slice(2);
  if (others.length > 0 || ![undefined, '--short'].includes(option)) {
    throw new UserError('rehearse:containers knows one option, --short.');
  }
  await installPackages();
  await buildFirst();
  const folder = mkdtempSync(join(tmpdir(), 'helix-containers-'));
  const ends = [() => rmSync(folder, { recursive: true, force: true })];
  const leave = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => leave().then(() => process.exit(130)));
  try {
    const engine = await openEngine(ends);
    say(`Images: ${await fetchImages(engine)}. ${await versions(engine)}`);
    const clone = join(folder, 'clone');
    await runCommand('git', ['clone', '-q', '--depth', '1', `file://${projectRoot}`, clone]);
    await part(rehearseProduct, engine, { folder: clone, step, isShort: option === '--short' });
    if (option === undefined) await part(rehearseApp, engine, { folder, step });
  } finally {
    await leave();
  }
  const all = DOCUMENTED.length + FAULTS.length;
  say(
    `${DOCUMENTED.length} of ${all} steps as documented${FAULTS.map((each) => `\nNOT: ${each}`).join('')}`,
  );
  if (FAULTS.length > 0) process.exitCode = 1;
});

async function step(name, work) {
  const startedAt = Date.now();
  await withProgress(name, work);
  DOCUMENTED.push(name);
  say(`ok  ${((Date.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${name}`);
}

/** What a step needs that failed, later ones need as well; the other file is rehearsed all the same. */
async function part(rehearse, engine, options) {
  let name = '';
  const named = (next, work) => step((name = next), work);
  try {
    await rehearse(engine, { ...options, step: named });
  } catch (error) {
    FAULTS.push(`${name}: ${error.message}`);
    say(`NOT  ${name}: ${error.message}\n${error.logs ?? error.stack}`);
  }
}

async function versions({ env }) {
  const ask = async (...args) => (await runCommand('docker', args, { env })).stdout.trim();
  const engine = await ask('version', '-f', '{{.Server.Version}}');
  return `Docker ${engine}, Compose ${await ask('compose', 'version', '--short')}.`;
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
