import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { generatePythonClient } from '../../scripts/python/generate-client.mjs';
import { providePythonTools, run } from '../../scripts/python/python-tools.mjs';
import { newSessionId, useProduct } from '../support/product.js';

// The Python client as it is installed, against the real product. `python/scenarios.py` has the programs.

const PACKAGE = fileURLToPath(new URL('../../clients/python', import.meta.url));
const SCENARIOS = fileURLToPath(new URL('python/scenarios.py', import.meta.url));
const GENERATED = join(PACKAGE, 'helix_temporal', 'rest');

const product = useProduct();
const folder = mkdtempSync(join(tmpdir(), 'helix-python-'));
const venv = join(folder, 'venv');
const tools = await providePythonTools().catch((error: unknown) => {
  // What a person at this machine can change: no Python, no network. Everything else is a fault.
  if (!(error instanceof Error) || error.name !== 'UserError') throw error;
  process.stderr.write(`The Python client is not tested: ${String(error)}\n`);
  return undefined;
});
let python: ChildProcess | undefined;
const test = tools === undefined ? it.skip : it;

beforeAll(async () => {
  if (tools === undefined) return;
  const source = join(folder, 'source');
  // Without what was generated here some day.
  cpSync(PACKAGE, source, { recursive: true, filter: (path) => !path.startsWith(GENERATED) });
  await Promise.all([
    generatePythonClient(source),
    run(tools.python, ['-m', 'venv', '--without-pip', venv]),
  ]);
  const offline = ['--no-index', '--find-links', tools.wheels];
  const into = ['--python', join(venv, 'bin', 'python'), '--disable-pip-version-check'];
  await run(join(tools.bin, 'pip'), [...into, 'install', '--quiet', ...offline, source]);
  python = startPython();
}, 120_000);
afterAll(() => {
  python?.kill();
  rmSync(folder, { recursive: true, force: true });
});

interface Report {
  number: number;
  begun?: true;
  result?: Record<string, unknown>;
  error?: string;
}
const plays = new Map<number, (report: Report) => void>();

/** All programs are threads of one process: it takes a second to import the client. */
function startPython(): ChildProcess {
  const child = spawn(join(venv, 'bin', 'python'), [SCENARIOS], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  createInterface(child.stdout).on('line', (line) => {
    const report = JSON.parse(line) as Report;
    plays.get(report.number)?.(report);
  });
  child.once('exit', (code) => {
    const error = `Python has ended with ${String(code)}`;
    for (const [number, report] of plays) report({ number, error });
  });
  return child;
}

interface Options {
  url?: string;
  /** Called once the program has read some of a reply. */
  onBegun?: () => void;
}

/** Runs one of the programs to its end. */
function play(name: string, session: string, { url = product.url, onBegun }: Options = {}) {
  return new Promise<Record<string, unknown>>((resolve, reject) => {
    const number = plays.size + 1;
    plays.set(number, ({ begun, result, error }) => {
      if (begun) onBegun?.();
      else if (result === undefined) reject(new Error(`${name}: ${String(error)}`));
      else resolve(result);
    });
    python?.stdin?.write(`${JSON.stringify({ name, number, url, session })}\n`);
  });
}

async function chargesOf(session: string): Promise<string[]> {
  const all = Object.entries(await product.redis.hgetall('lab:charges'));
  return all.filter(([key]) => key.startsWith(`${session}:`)).map(([, count]) => count);
}

test('a program gets a reply as it is written, and the same one for the same message id', async () => {
  const text = 'One two three four.';
  const seen = await play('stream', newSessionId());
  expect(seen).toMatchObject({ text, again: text, messages: 2 });
  const kinds = seen['kinds'] as string[];
  expect(kinds.filter((kind) => kind === 'text-delta')).toHaveLength(4);
  expect([kinds[0], kinds.at(-1)]).toEqual(['start', 'finish']);
});

test('an input that is interrupted comes once, however often its reply is opened again', async () => {
  const { kinds, input } = await play('broken_input', newSessionId());
  expect(input).toBe('{"amount":5}');
  expect(kinds).toEqual([
    ...['start', 'start-step', 'tool-input-start'],
    ...['tool-input-delta', 'tool-input-delta', 'finish'],
  ]);
});

test('a program sees what waits, approves it, and gets the rest only', async () => {
  const session = newSessionId();
  const seen = await play('approve', session);
  expect(seen).toMatchObject({ first: 'May I?', text: 'done', nothing: [] });
  expect(seen['asked']).toMatchObject([
    { toolCallId: 'c1', toolName: 'charge', input: { amount: 5 } },
  ]);
  expect(seen['rest']).toContain('tool-output-available');
  expect(seen['rest']).not.toContain('tool-approval-request');
  expect(await chargesOf(session)).toEqual(['1']);
});

test('another program approves with another input, and gets the rest only', async () => {
  const session = newSessionId();
  expect(await play('approve_elsewhere', session)).toEqual({ text: 'done' });
  expect(await chargesOf(session)).toEqual(['1']);
});

test('a denied call is not executed, and a client tool gets its result', async () => {
  const sessions = [newSessionId(), newSessionId()] as const;
  const [denied, given] = await Promise.all([play('deny', sessions[0]), play('give', sessions[1])]);
  expect(denied).toMatchObject({ text: 'Then not.' });
  expect(denied['kinds']).toContain('tool-output-denied');
  expect(await chargesOf(sessions[0])).toEqual([]);
  expect(given).toEqual({ text: 'There.' });
});

test('a program stops a run that it reads', async () => {
  const { kinds, ...seen } = await play('stop', newSessionId());
  expect(seen).toEqual({ status: 'ended', run: 'interrupted' });
  expect((kinds as string[]).filter((kind) => kind === 'text-delta').length).toBeLessThan(100);
});

test('a program that leaves a reply reads on where it was', async () => {
  expect(await play('leave', newSessionId())).toEqual({ text: 'a b c d e f' });
});

test('a reply survives a kill of the API, with each part once', async () => {
  let killed: Promise<void> | undefined;
  const seen = await play('slow', newSessionId(), {
    onBegun: () => {
      killed ??= product.kill9Api().then(() => product.startApi());
    },
  });
  await killed;
  expect(seen).toMatchObject({ text: 'word '.repeat(60), starts: 1 });
});

const TEN = 'one two three four five six seven eight nine ten';

test('a reply that is withdrawn while it is read is an exception, and follow has the whole turn', async () => {
  expect(await play('withdrawn', newSessionId())).toEqual({
    error: 'The server has withdrawn what it wrote.',
    text: TEN,
    last: ['finish'],
    nothing: [],
  });
});

test('what follows an answer arrives once, also when an attempt was withdrawn before it was read', async () => {
  const session = newSessionId();
  expect(await play('withdrawn_behind', session)).toEqual({
    first: 'May I?',
    text: TEN,
    starts: 1,
    nothing: [],
  });
  expect(await chargesOf(session)).toEqual(['1']);
});

test('a program lists conversations and models', async () => {
  const session = newSessionId();
  const seen = await play('conversations', session);
  expect(seen['sessions']).toContain(session);
  expect(seen['models']).toContain('lab');
});

test('refusals are exceptions with the codes of the protocol', async () => {
  expect(await play('refusals', newSessionId())).toEqual({
    agent: [400, 'agent_not_found'],
    other: [409, 'agent_mismatch'],
    answered: [409, 'not_pending'],
    missing: [404, 'not_found'],
    hostile: [400, 'validation_error'],
    nothing: [],
    model: [404, 'model_not_found'],
    asyncio: 'not_found',
  });
});

test('an answer of another server is a refusal without a code; the token is sent as bearer', async () => {
  let sent: string | undefined;
  const server = createServer((request, response) => {
    sent = request.headers.authorization;
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const seen = await play('stranger', 's1', { url });
  server.close();
  expect(seen).toEqual({ status: 502, code: null });
  expect(sent).toBe('Bearer secret');
});
