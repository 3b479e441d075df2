// Attacks by a web page on a product that runs on its visitor's machine, by `npm start` or in an
// app of `init` with the Temporal server of its compose file. The page finds every port of
// 127.0.0.1, sends what browsers send without a preflight, and its host name may resolve to this
// machine (DNS rebinding). It must neither read nor change anything.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { parse } from 'yaml';
import { createEngine } from '../../scripts/engines/engine-process.mjs';
import { isTemporalReady } from '../../scripts/engines/temporal-server.mjs';
import { waitUntil } from '../../scripts/start/reachable.mjs';
import { anyFreePort } from '../../scripts/system/ports.mjs';
import { projectRoot } from '../../scripts/system/project.mjs';
import { listeningOf } from './listening.mjs';
import { startCommand } from './stand-in-project.mjs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const EVIL = 'rebound.evil.example';
const NAMESPACE = '/api/v1/namespaces/default';
/** Headers of a page on another site; `REBOUND` has those of a page whose name resolves here. */
const CROSS_SITE = {
  origin: `http://${EVIL}`,
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'no-cors',
};
const REBOUND = { host: EVIL, origin: `http://${EVIL}`, 'sec-fetch-site': 'same-origin' };
// Time limit for a port that does not speak HTTP or forwards requests to missing workers.
const PATIENCE_MS = 1500;

const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('npm start', () => {
  const sessionId = `attacked-${Date.now()}`;
  const dataDir = mkdtempSync(join(tmpdir(), 'helix-attacks-'));
  let command;
  let api;
  let ui;
  let runId;

  beforeAll(async () => {
    const PORT = String(await anyFreePort());
    command = startCommand(projectRoot, { DATA_DIR: dataDir, PORT, TEMPORAL_UI: '' });
    api = { host: '127.0.0.1', port: Number(PORT) };
    await command.line(/Ctrl-C stops/);
    const [, uiPort] = /Temporal UI +http:\/\/127\.0\.0\.1:(\d+)/.exec(command.output());
    ui = { host: '127.0.0.1', port: Number(uiPort) };
    runId = await askForApproval();
  });

  afterAll(async () => {
    command.child.kill('SIGTERM');
    await command.exited;
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** Makes a conversation wait for a person to approve 5,000. */
  async function askForApproval() {
    const script = [{ calls: [{ tool: 'charge', id: 'c1', args: { amount: 5000 } }] }];
    const parts = [{ type: 'text', text: JSON.stringify({ script }) }];
    const body = { id: sessionId, messages: [{ id: 'u1', role: 'user', parts }] };
    await fetch(`http://127.0.0.1:${api.port}/api/chat/${sessionId}?agent=lab`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then((response) => response.text());
    let run;
    const asks = async () => (run = (await snapshot()).run)?.status === 'waiting_approval';
    await expect(waitUntil(asks, { withinMs: 60_000 })).resolves.toBe(true);
    return run.runId;
  }

  async function snapshot() {
    const url = `http://127.0.0.1:${api.port}/api/chat/${sessionId}/snapshot`;
    return (await fetch(url)).json();
  }

  const attacks = () => attacksOn({ sessionId, runId });

  test('no port that pages can reach obeys one or shows it anything', async () => {
    const listening = listeningOf(command.child.pid);
    const ofUi = listening.filter(({ host }) => host !== '127.0.0.1');
    expect(ofUi).toEqual([{ host: expect.stringMatching(/^127\./), port: expect.any(Number) }]);
    const known = listening.filter(({ host }) => host === '127.0.0.1');
    expect(known).toEqual(expect.arrayContaining([api, ui]));

    const replies = await Promise.all(
      known.flatMap((at) =>
        attacks().map(async (attack) => ({ at, attack, reply: await send(at, attack) })),
      ),
    );
    const secrets = [runId, ofUi[0].host, '_csrf'];
    const leaked = replies.filter(({ reply }) =>
      secrets.some((secret) => reply.text.includes(secret)),
    );
    expect(leaked).toEqual([]);
    const obeyed = replies.filter(
      ({ attack, reply }) => attack.method === 'POST' && reply.status < 300 && reply.status > 0,
    );
    expect(obeyed).toEqual([]);
    const { run, pending } = await snapshot();
    expect(run).toMatchObject({ runId, status: 'waiting_approval' });
    expect(pending).toMatchObject([{ toolCallId: 'c1' }]);
  });

  test('people have the UI by its own address, and can act there', async () => {
    const ask = (asked) => send(ui, asked, 60_000);
    const page = await ask({ method: 'GET', path: '/', headers: { 'sec-fetch-site': 'none' } });
    expect(page.status).toBe(200);
    expect(page.text).toContain('<!doctype html>');
    const token = /_csrf=([^;]+)/.exec(page.text)[1];
    const list = await ask({ method: 'GET', path: `${NAMESPACE}/workflows`, headers: {} });
    expect(list.text).toContain(runId);

    const workflow = `${NAMESPACE}/workflows/${encodeURIComponent(`run:${runId}`)}`;
    const own = { origin: `http://127.0.0.1:${ui.port}`, 'sec-fetch-site': 'same-origin' };
    const csrf = {
      cookie: `_csrf=${token}`,
      'x-csrf-token': token,
      'content-type': 'application/json',
    };
    const terminate = {
      method: 'POST',
      path: `${workflow}/terminate`,
      body: '{"reason":"by hand"}',
    };
    await expect(ask({ ...terminate, headers: { ...own, ...csrf } })).resolves.toMatchObject({
      status: 200,
    });
    const ended = async () => (await snapshot()).run?.status === 'failed';
    await expect(waitUntil(ended, { withinMs: 60_000 })).resolves.toBe(true);
  });
});

onLinux('the Temporal server of an app', () => {
  test('no page can use the Temporal server of the compose file of init', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'helix-attacks-'));
    const file = join(projectRoot, 'templates/app/compose.yaml');
    const { services } = parse(readFileSync(file, 'utf8'), { merge: true });
    const port = await anyFreePort();
    const here = {
      // This machine's browsers reach the addresses of containers too.
      '--ip': '127.0.0.1',
      '--db-filename': join(folder, 'temporal.db'),
    };
    const args = services.temporal.command.map((arg) => {
      const [flag] = arg.split('=', 1);
      return flag in here ? `${flag}=${here[flag]}` : arg;
    });
    const isReady = () => isTemporalReady({ port });
    const engine = createEngine({
      name: 'temporal',
      file: process.env.TEMPORAL_CLI_PATH,
      isReady,
      folder,
      args: [...args, `--port=${port}`],
    });
    try {
      await engine.restart();
      const known = listeningOf(engine.pid);
      expect(known).toContainEqual({ host: '127.0.0.1', port });
      const attacks = attacksOn({ sessionId: 's1', runId: 's1:1-a' });
      const served = await Promise.all(
        known.flatMap((at) =>
          attacks.map(async (attack) => ({ at, attack, reply: await send(at, attack) })),
        ),
      );
      const obeyed = served.filter(
        ({ attack, reply }) =>
          reply.status > 0 &&
          reply.status !== 403 &&
          reply.status !== 404 &&
          attack.path !== '/metrics',
      );
      expect(obeyed).toEqual([]);
      expect(served.some(({ reply }) => reply.status === 403)).toBe(true);
    } finally {
      await engine.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** Returns everything that a page might read or change on one port. */
function attacksOn({ sessionId, runId }) {
  const workflow = `${NAMESPACE}/workflows/${encodeURIComponent(`run:${runId}`)}`;
  const stop = {
    visibilityQuery: 'ExecutionStatus = "Running"',
    terminationOperation: {},
    reason: '',
  };
  const approve = { input: { args: { payloads: [payload({ toolCallId: 'c1' })] } } };
  const answer = `/api/chat/${sessionId}/pending/c1`;
  const writes = [
    ['POST', `${NAMESPACE}/batch-operations/x`, JSON.stringify(stop)],
    ['POST', `${workflow}/terminate`, '{}'],
    ['POST', `${workflow}/update/approve`, JSON.stringify({ request: approve })],
    ['POST', `/namespaces/default/task-queues/helix-agents/nexus-services/any/op`, '{}'],
    ['POST', answer, '{"approved":true}'],
    ['POST', `/api/chat/${sessionId}/stop`, '{"mode":"abort"}'],
    // Redis accepts commands line by line.
    ['POST', '/', '\r\nFLUSHALL\r\nSHUTDOWN NOSAVE\r\n'],
  ];
  const reads = ['/', '/metrics', `${NAMESPACE}/workflows`, `${workflow}/history`, '/api/sessions'];
  return [
    ...reads.map((path) => ({ method: 'GET', path, headers: REBOUND })),
    ...writes.flatMap(([method, path, body]) => [
      { method, path, body, headers: { ...CROSS_SITE, 'content-type': 'text/plain' } },
      { method, path, body, headers: { ...REBOUND, 'content-type': 'application/json' } },
      // The Temporal UI's own page sends this cookie, which the rebound page may read.
      { method, path, body, headers: { ...REBOUND, ...CSRF } },
    ]),
  ];
}

/** The server compares token and cookie, so an attacker who sets both may choose any token. */
const CSRF = { cookie: '_csrf=known', 'x-csrf-token': 'known', 'content-type': 'application/json' };

function payload(value) {
  return {
    metadata: { encoding: Buffer.from('json/plain').toString('base64') },
    data: Buffer.from(JSON.stringify(value)).toString('base64'),
  };
}

/** Resolves with the whole reply, head and body, as text; the status is 0 if none came. */
function send({ host, port }, { method, path, headers, body }, timeout = PATIENCE_MS) {
  return new Promise((resolve) => {
    const given = { host: `${host}:${port}`, ...headers };
    const asked = request({ host, port, method, path, headers: given, timeout });
    const fail = () => {
      asked.destroy();
      resolve({ status: 0, text: '' });
    };
    asked.once('timeout', fail).once('error', fail);
    asked.once('response', (reply) => {
      let text = JSON.stringify(reply.headers);
      reply.setEncoding('utf8').on('data', (more) => (text += more));
      reply.once('close', () => resolve({ status: reply.statusCode, text }));
    });
    asked.end(body);
  });
}
