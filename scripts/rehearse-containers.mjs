// `npm run rehearse:containers`: follows the headers of docker-compose.yml and of an `init` app on a Docker
// engine. Installs its needs as root on Debian, and leaves only images, programs and a picture behind.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFirst } from './build.mjs';
import { createTalk, openComposition } from './containers/composition.mjs';
import { openEngine } from './containers/engine.mjs';
import { fetchImages } from './containers/images.mjs';
import { rehearseProduct } from './containers/rehearse-product.mjs';
import { installPackages } from './install.mjs';
import { pack } from './package/pack.mjs';
import { readOptions } from './system/options.mjs';
import { withProgress } from './system/progress.mjs';
import { projectRoot, runMain } from './system/project.mjs';
import { outputOf, runCommand } from './system/run-command.mjs';

const DOCUMENTED = [];
const FAULTS = [];

await runMain(async () => {
  const options = { short: { says: 'only the main file, with one reply and one kill' } };
  const { short } = readOptions('npm run rehearse:containers', options, process.argv.slice(2));
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
    await part(rehearseProduct, engine, { folder: clone, step, isShort: short });
    if (!short) await part(rehearseApp, engine, { folder, step });
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

/** After a failed step the rest of this part is skipped; the other part still runs. */
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

// Rehearses an app of `helix-temporal init`, from the tarball, following its compose file's header.
/** @param folder an empty folder */
async function rehearseApp(engine, { folder, step }) {
  const home = join(folder, 'my-shop');
  await step(
    'init from the tarball takes it along, and npm install writes the lock file',
    async () => {
      const tarball = await pack(folder);
      const env = { ...engine.env, npm_config_cache: join(folder, 'npm-cache') };
      await outputOf('npx', ['-y', '-p', tarball, 'helix-temporal', 'init', 'my-shop'], {
        cwd: folder,
        env,
      });
      await outputOf('npm', ['install', '--package-lock-only'], { cwd: home });
      if (!readdirSync(home).some((name) => name.endsWith('.tgz')))
        throw new Error('the app has no tarball');
    },
  );
  const app = await openComposition(engine, {
    folder: home,
    file: 'compose.yaml',
    name: 'helix-rehearsal-app',
  });
  try {
    await step('env.sh tokens writes .env', () => app.choose('tokens', 'env.sh'));
    await step('docker compose up --build --wait', () => app.up('--build'));
    const authorization = `Bearer ${await app.run('sh', 'env.sh', 'token', 'ada')}`;
    const talk = await createTalk(app.url, { agent: 'desk', headers: { authorization } });
    await step('who shows no token is refused', async () => {
      const { status } = await fetch(`${app.url}/api/conversations`);
      if (status !== 401) throw new Error(`it got ${status}`);
    });
    await step(
      'a refund waits while the worker and the API are killed, is approved, and paid once',
      async () => {
        await talk.say('refund', 'I want a refund for order 1042');
        await app.kill('worker');
        await app.kill('api');
        const text = await talk.approve('refund');
        if (!text.includes('on its way')) throw new Error(text);
        const paid = await app.compose('exec', 'worker', 'cat', 'payments.log');
        if (paid.split('\n').length !== 1) throw new Error(paid);
      },
    );
    await step('a conversation is there after down and up', async () => {
      await app.down();
      await app.up();
      const { messages } = await (await talk.send('/chat/refund/snapshot')).json();
      if (messages.length !== 2) throw new Error(`${messages.length} messages`);
    });
  } catch (error) {
    throw Object.assign(error, { logs: await app.logs() });
  } finally {
    await app.down('--volumes');
  }
}
