import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Hono } from 'hono';
import { entrySources } from '../docs/factories.js';
import { CONTINUED, given } from './given.js';
import { areThere, DIFFERENT, readSamples, toProgram, type Sample } from './samples.js';

// Runs the samples that need neither a page nor a server; samples.verify.ts compiles all of them.

const ELSEWHERE =
  /'use client'|\buse[A-Z]\w+[(<]|^\s*<\w|\bredis\b|next\/|\bpipeToExpress\b|\breq\b|'react'|\bfetch\(/m;

const samples = areThere ? readSamples() : [];
let folder: string;
beforeAll(async () => {
  await mkdir('.data', { recursive: true });
  folder = await mkdtemp(join(process.cwd(), '.data', 'seeds-'));
  const taken = await Promise.all(
    Object.entries(CONTINUED).map(async ([entry, names]) => {
      const found = (await import(sourceOf(entry))) as Record<string, unknown>;
      return names.map((name) => [name, found[name]]);
    }),
  );
  Object.assign(globalThis, given, Object.fromEntries(taken.flat()));
  // Samples import each other, so all files must exist first.
  await Promise.all(samples.map(write));
});
afterAll(async () => {
  for (const name of [...Object.keys(given), ...Object.values(CONTINUED).flat()]) {
    Reflect.deleteProperty(globalThis, name);
  }
  await rm(folder, { recursive: true, force: true });
});

/** Samples import the package's sources, whose classes `given` uses, and a free model. */
const sources = entrySources();
function sourceOf(entry: string): string {
  if (entry === '@ai-sdk/openai') return join(import.meta.dirname, 'given.ts');
  const source = sources.get(entry);
  return source === undefined ? entry : pathToFileURL(source).href;
}

async function write({ name, code }: Sample): Promise<void> {
  const program = toProgram({ name, code }).replaceAll(
    / from '([^'.][^']*)';/g,
    (_text, entry: string) => ` from '${sourceOf(entry)}';`,
  );
  await writeFile(join(folder, `${name}.tsx`), program);
}

async function load(name: string): Promise<Record<string, unknown>> {
  return (await import(pathToFileURL(join(folder, `${name}.tsx`)).href)) as Record<string, unknown>;
}

async function drain(run: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of run) {
    // Only the end matters.
  }
}

/** Returns true if the only faults concern null, since the values exist at run time. */
const isWhole = ({ name }: Sample): boolean =>
  (DIFFERENT[name]?.faults ?? []).every((fault) => fault === 'TS18047');
const here = samples.filter((each) => isWhole(each) && !ELSEWHERE.test(each.code));

if (!areThere) {
  it.skip('The Helix documents are not beside this checkout: test/extensions/one-process/seed-example.test.ts alone stands for them.', () =>
    undefined);
} else {
  it('finds every sample of the five documents', () => {
    const documents = [0, 1, 2, 3, 4].map((number) => `00${String(number)}-`);
    const counts = documents.map((of) => samples.filter(({ name }) => name.startsWith(of)).length);
    expect(counts).toEqual([38, 19, 41, 28, 12]);
    expect(here.length).toBe(93);
  });

  it.each(here)('the sample $name runs', async (sample) => {
    const { default: run } = await load(sample.name);
    if (typeof run !== 'function') return;
    const running = drain((run as () => AsyncIterable<unknown>)());
    // A reader of an open stream would wait for its end.
    if (sample.code.includes('Reader(streamId'))
      await given.streamManager.endStream(given.streamId);
    await running;
  });

  it('the complete example answers over its Hono app, to a page that reloads as well', async () => {
    const host = samples.find(({ name }) => name === '000-1063');
    if (host === undefined) throw new Error('The complete example is missing.');
    await write({ name: 'host', code: `${host.code}\nexport { app };` });
    const { app } = (await load('host')) as unknown as { app: Hono };
    const url = '/api/chat/whole';
    const messages = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }];
    const reply = await app.request(url, {
      method: 'POST',
      body: JSON.stringify({ id: 'whole', messages }),
    });
    expect(await reply.text()).toContain('Let me see.');
    expect((await app.request(url)).status).toBe(204);
    const snapshot = await app.request(`${url}/snapshot`);
    expect(await snapshot.json()).toMatchObject({
      status: 'ended',
      messages: [{ id: 'u1' }, { id: 'msg-1' }],
    });
    expect((await app.request('/api/chat/none/snapshot')).status).toBe(404);
  });
}
