// An app of `helix-temporal init`, from the tarball, by the words of its compose file's head.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pack } from '../package/pack.mjs';
import { lastLines, runCommand } from '../system/run-command.mjs';
import { openComposition } from './composition.mjs';
import { createTalk } from './talk.mjs';

/** @param folder an empty one */
export async function rehearseApp(engine, { folder, step }) {
  const home = join(folder, 'my-shop');
  await step(
    'init from the tarball takes it along, and npm install writes the lock file',
    async () => {
      const tarball = await pack(folder);
      const env = { ...engine.env, npm_config_cache: join(folder, 'npm-cache') };
      await run('npx', ['-y', '-p', tarball, 'helix-temporal', 'init', 'my-shop'], {
        cwd: folder,
        env,
      });
      await run('npm', ['install', '--package-lock-only'], { cwd: home });
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

async function run(file, args, options) {
  const { code, stdout, stderr } = await runCommand(file, args, options);
  if (code !== 0) throw new Error(`${file} ${args[0]}: ${lastLines(stdout + stderr, 8)}`);
}
