// Rehearses docker-compose.yml in a fresh clone, following the instructions in its header.
import { once } from 'node:events';
import { appendFileSync, mkdirSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { findChromium } from '../engines/test-environment.mjs';
import { projectRoot } from '../system/project.mjs';
import { createTalk, openComposition } from './composition.mjs';

const SCRIPT = 'templates/app/env.sh';
const KILLED = ['worker', 'api', 'redis', 'temporal', 'postgres'];
const PICTURE = join(projectRoot, '.data', 'rehearse-containers', 'page.png');
const ASKS = JSON.stringify({
  script: [{ calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 } }] }, { say: 'Paid once.' }],
});

/** @param folder of the clone */
export async function rehearseProduct(engine, { folder, step, isShort }) {
  const product = await openComposition(engine, {
    folder,
    file: 'docker-compose.yml',
    name: 'helix-rehearsal',
  });
  const talk = await createTalk(product.url, { agent: 'lab' });
  const isReady = async () => {
    const { status } = await fetch(`${product.url}/readyz`);
    if (status !== 200) throw new Error(`/readyz: ${status}`);
  };
  try {
    if (!isShort)
      await step('without .env Compose says one sentence and starts nothing', () =>
        refuses(product),
      );
    // The header does not mention the lab agent; its words are known in advance.
    await step('env.sh open writes .env', () => product.choose('open', SCRIPT, 'LAB=1'));
    await step('the image builds', () => product.compose('build'));
    if (!isShort) await step('a port in use is named', () => namesPort(product));
    await step('docker compose up --wait answers /readyz', () => product.up().then(isReady));
    await step('a reply of 80 words', () => talk.hear());
    await step('a page whose name was made to lead here is refused', () => refusesRebound(product));
    if (isShort) {
      await step('kill -9 of worker in the middle of a reply', () =>
        talk.hear(() => product.kill('worker')),
      );
      return;
    }
    await step('an approval', async () => {
      await talk.say('approved', ASKS);
      if ((await talk.approve('approved')) !== 'Paid once.') throw new Error('another reply came');
    });
    await step(`the page, as in ${PICTURE}, and the Temporal UI`, () => takePicture(product));
    for (const service of KILLED) {
      await step(`kill -9 of ${service} in the middle of a reply`, () =>
        talk.hear(() => product.kill(service)),
      );
    }
    await step('a question waits through down and up, and is answered then', async () => {
      await talk.say('waiting', ASKS);
      await product.down();
      await product.up();
      if ((await talk.approve('waiting')) !== 'Paid once.') throw new Error('another reply came');
    });
    await step('a rolling deploy of a changed image in the middle of a reply', async () => {
      appendFileSync(join(folder, 'Dockerfile'), 'LABEL changed=yes\n');
      await product.compose('build');
      await talk.hear(() => product.up());
    });
    await step('--scale worker=3', async () => {
      await product.up('--scale', 'worker=3');
      const workers = (await product.compose('ps', '-q', 'worker')).split('\n');
      if (workers.length !== 3) throw new Error(`${workers.length} workers`);
      await talk.hear(() => product.kill('worker'));
    });
    await step('the config of the profile observability', () =>
      product.compose('--profile', 'observability', 'config', '-q'),
    );
  } catch (error) {
    throw Object.assign(error, { logs: await product.logs() });
  } finally {
    await product.down('--volumes');
  }
}

async function refuses(product) {
  const { code, stderr } = await product.attempt('docker', 'compose', 'up', '--wait');
  const lines = stderr.trim().split('\n');
  if (code === 0 || lines.length !== 1 || !stderr.includes('env.sh open or tokens'))
    throw new Error(stderr);
  // Compose refuses every command without settings, so Docker lists the containers.
  const labels = `label=com.docker.compose.project=helix-rehearsal`;
  if ((await product.run('docker', 'ps', '-aq', '--filter', labels)) !== '')
    throw new Error('containers run');
}

/** Checks that the published ports, and Temporal's HTTP API at its container's address, refuse rebound hosts. */
async function refusesRebound(product) {
  const [container] = (await product.compose('ps', '-q', 'temporal')).split('\n');
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
  const temporal = await product.run('docker', 'inspect', '-f', format, container);
  const ui = await product.compose('port', 'temporal-ui-proxy', '8080');
  for (const [url, refusal] of [
    [`${product.url}/api/config`, 401],
    [`http://${ui}/api/v1/namespaces/default/workflows`, 403],
    [`http://${temporal}:7243/api/v1/namespaces/default/workflows`, 403],
  ]) {
    const status = await new Promise((resolve, reject) => {
      const headers = { host: 'rebound.evil.example' };
      request(url, { headers }, (reply) => resolve(reply.resume().statusCode))
        .once('error', reject)
        .end();
    });
    if (status !== refusal) throw new Error(`${url} answers a foreign host with ${status}`);
  }
}

async function namesPort(product) {
  const { port } = new URL(product.url);
  const other = createServer().listen(Number(port), '127.0.0.1');
  await once(other, 'listening');
  try {
    const { code, stderr } = await product.attempt('docker', 'compose', 'up', '--wait');
    const sentence = stderr.trim().split('\n').at(-1);
    if (code === 0 || !sentence.includes(port)) throw new Error(sentence);
  } finally {
    other.close();
  }
}

async function takePicture(product) {
  const { path, reason } = await findChromium();
  if (!path) throw new Error(reason);
  const browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(90_000);
    await page.goto(`${product.url}/?session=approved&agent=lab`);
    // The user's message quotes the text too, so the last match counts.
    await page.getByText('Paid once.').last().waitFor();
    mkdirSync(join(PICTURE, '..'), { recursive: true });
    await page.screenshot({ path: PICTURE });
    const ui = await product.compose('port', 'temporal-ui-proxy', '8080');
    await page.goto(`http://localhost:${ui.split(':').at(-1)}/namespaces/default/workflows`);
    await page.getByText('run:approved').first().waitFor();
  } finally {
    await browser.close();
  }
}
