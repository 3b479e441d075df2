// Runs one Compose file in its own folder, as a person does with `docker compose`.
import { randomUUID } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { waitUntil } from '../start/reachable.mjs';
import { anyFreePort } from '../system/ports.mjs';
import { projectRoot } from '../system/project.mjs';
import { lastLines, outputOf, runCommand } from '../system/run-command.mjs';
import { hostOptions } from './images.mjs';

const MAX_MS = 900_000;
const BACK_WITHIN_MS = 60_000;

export async function openComposition(engine, { folder, file, name }) {
  const port = await anyFreePort();
  const env = { ...engine.env, COMPOSE_PROJECT_NAME: name };
  if (engine.isOwn) {
    // JSON is YAML.
    const override = { services: { api: { build: hostOptions() } } };
    writeFileSync(join(folder, 'build.json'), JSON.stringify(override));
    env.COMPOSE_FILE = `${file}:build.json`;
  }
  const attempt = (command, ...args) =>
    runCommand(command, args, { cwd: folder, env, timeoutMs: MAX_MS });
  const run = async (command, ...args) =>
    (await outputOf(command, args, { cwd: folder, env, timeoutMs: MAX_MS })).trim();
  const compose = (...args) => run('docker', 'compose', ...args);

  async function processOf(service) {
    const [container] = (await compose('ps', '-q', service)).split('\n');
    const pid = container && (await run('docker', 'inspect', '-f', '{{.State.Pid}}', container));
    return { container, pid: Number(pid ?? 0) };
  }

  return {
    url: `http://localhost:${port}`,
    attempt,
    run,
    compose,
    /** Writes .env as the file's header says, with free ports. */
    choose: async (choice, script, ...settings) => {
      await run('sh', script, choice);
      const ports = ['TEMPORAL_UI_PORT', 'GRAFANA_PORT'].map(
        async (key) => `${key}=${await anyFreePort()}`,
      );
      const lines = [`PORT=${port}`, ...(await Promise.all(ports)), ...settings];
      appendFileSync(join(folder, '.env'), `${lines.join('\n')}\n`);
    },
    up: (...args) => compose('up', '--wait', ...args),
    down: (...args) => compose('down', '--remove-orphans', ...args),
    /** Kills a service's first process; resolves when the restart policy has restarted it. */
    kill: async (service) => {
      const { container, pid } = await processOf(service);
      if (!(pid > 1)) throw new Error(`${service} is not running`);
      if (engine.isOwn) process.kill(pid, 'SIGKILL');
      else {
        // The container may run on another machine.
        await run('docker', 'kill', container);
        await run('docker', 'start', container);
      }
      const isBack = async () => ![0, pid].includes((await processOf(service)).pid);
      if (!(await waitUntil(isBack, { withinMs: BACK_WITHIN_MS })))
        throw new Error(`${service} stays away`);
    },
    logs: async () =>
      lastLines((await attempt('docker', 'compose', 'logs', '--tail', '15')).stdout, 80),
  };
}

// A person's acts through the HTTP API: sends messages, reads on after a cut, answers.
const REST_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 300;
const WORDS = Array.from({ length: 80 }, (_, n) => `word${n}`);

/** @param options.headers sent with each request, such as a token */
export async function createTalk(url, { agent, headers = {} }) {
  const page = pathToFileURL(join(projectRoot, 'dist/bench/soak/page.js')).href;
  const { createReader, createRequests, json, tally, toWords } = await import(page);
  const requests = createRequests(() => url);
  const send = (path, init = {}) =>
    requests.send(path, { ...init, headers: { ...init.headers, ...headers } });
  const look = async (sessionId) => (await send(`/chat/${sessionId}/snapshot`)).json();

  /** Resolves when the turn ends or asks a question; `during` begins with the first words. */
  async function say(sessionId, text, during) {
    const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
    const post = json({ id: sessionId, agent, messages: [message] });
    const reader = createReader(() => {});
    const begun =
      during &&
      waitUntil(() => reader.words().length > 5, { withinMs: REST_WITHIN_MS }).then(during);
    begun?.catch(() => {});
    let shown;
    let isStored = false;
    let isLive = false;
    const rests = await waitUntil(
      async () => {
        const response = await send(`/chat/${sessionId}`, isStored ? {} : post);
        if (response.status >= 400) throw new Error(`${response.status} ${await response.text()}`);
        isLive = response.status === 200 && (await reader.read(response));
        shown = await look(sessionId);
        isStored = (shown.messages ?? []).some(({ id }) => id === message.id);
        return (
          isStored && (['ended', 'failed'].includes(shown.status) || shown.pending?.length > 0)
        );
      },
      { withinMs: REST_WITHIN_MS, everyMs: LOOK_EVERY_MS },
    );
    await begun;
    if (!rests) throw new Error(`the reply did not come to rest: ${JSON.stringify(shown?.run)}`);
    // A reply that ends while no server answers appears only in the record.
    return { shown, words: isLive ? reader.words() : undefined, text: textOf(shown) };
  }

  return {
    send,
    say,
    /** Checks that page and record have a reply of 80 words complete and once. */
    hear: async (during) => {
      const script = [{ say: `${WORDS.join(' ')} `, deltas: WORDS.length, everyMs: 100 }];
      const sessionId = randomUUID();
      const { words, text } = await say(sessionId, JSON.stringify({ script }), during);
      const stored = toWords(text);
      for (const found of [words ?? stored, stored]) {
        const { lost, doubled } = tally(WORDS, found, false);
        if (lost + doubled > 0) throw new Error(`${lost} words lost, ${doubled} doubled`);
      }
      return sessionId;
    },
    /** Approves the waiting call; resolves to the turn's text at its end. */
    approve: async (sessionId) => {
      const { pending } = await look(sessionId);
      if (pending?.length !== 1) throw new Error(`${pending?.length ?? 0} questions wait`);
      const { toolCallId, approvalId, inputHash } = pending[0];
      const path = `/chat/${sessionId}/pending/${encodeURIComponent(toolCallId)}`;
      const { status } = await send(path, json({ approved: true, approvalId, inputHash }));
      if (status !== 202) throw new Error(`the answer got ${status}`);
      let shown;
      const isOver = async () => (shown = await look(sessionId)).status === 'ended';
      if (!(await waitUntil(isOver, { withinMs: REST_WITHIN_MS, everyMs: LOOK_EVERY_MS }))) {
        throw new Error('the run did not end after the answer');
      }
      return textOf(shown);
    },
  };
}

/** Returns the text of the newest reply. */
function textOf({ messages }) {
  const { role, parts } = messages.at(-1);
  return role === 'assistant' ? parts.flatMap(({ text }) => text ?? []).join(' ') : '';
}
