import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Hono } from 'hono';
import { entrySources } from '../docs/factories.js';
import { CONTINUED, given } from './given.js';
import { areThere, DIFFERENT, readSamples, toProgram, type Sample } from './samples.js';

// Runs the samples that need neither a page nor a server; samples.verify.ts compiles all of them.

const ELSEWHERE =
  /'use client'|\buse[A-Z]\w+[(<]|<\w+ |\bredis\b|next\/|\bpipeToExpress\b|\breq\b|'react'/;

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
});
afterAll(async () => {
  for (const name of [...Object.keys(given), ...Object.values(CONTINUED).flat()]) {
    Reflect.deleteProperty(globalThis, name);
  }
  await rm(folder, { recursive: true, force: true });
});

/** The package's sources, so that the classes are those that are given; a model that costs nothing. */
const sources = entrySources();
function sourceOf(entry: string): string {
  if (entry === '@ai-sdk/openai') return join(import.meta.dirname, 'given.ts');
  const source = sources.get(entry);
  return source === undefined ? entry : pathToFileURL(source).href;
}

async function load(sample: Sample): Promise<Record<string, unknown>> {
  const code = toProgram(sample).replaceAll(
    / from '([^'.][^']*)';/g,
    (_text, entry: string) => ` from '${sourceOf(entry)}';`,
  );
  const file = join(folder, `${sample.name}.ts`);
  await writeFile(file, code);
  return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
}

async function drain(run: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of run) {
    // Only that it ends.
  }
}

const samples = areThere ? readSamples() : [];
const here = samples.filter(({ name, code }) => !(name in DIFFERENT) && !ELSEWHERE.test(code));

if (!areThere) {
  it.skip('The Helix documents are not beside this checkout: test/in-process/seed-example.test.ts alone stands for them.', () =>
    undefined);
} else {
  it('finds every sample of the five documents', () => {
    const counts = Object.groupBy(samples, ({ name }) => name.slice(0, 3));
    expect(Object.values(counts).map((found) => found?.length)).toEqual([38, 19, 41, 28, 12]);
    expect(here.length).toBe(0);
  });

  it.each(here)('the sample $name runs', async (sample) => {
    const { default: run } = await load(sample);
    if (typeof run !== 'function') return;
    const running = drain((run as () => AsyncIterable<unknown>)());
    // A reader of an open stream waits for its end.
    if (/Reader\(streamId/.test(sample.code)) await given.streamManager.endStream(given.streamId);
    await running;
  });

  it('the complete example answers over its Hono app, to a page that reloads as well', async () => {
    const [example, host] = ['000-1029', '000-1063'].map((name) =>
      samples.find((s) => s.name === name),
    );
    if (example === undefined || host === undefined)
      throw new Error('The complete example is missing.');
    await load(example);
    const code = `${host.code}\nexport { app };`;
    const { app } = (await load({ ...host, code })) as unknown as { app: Hono };
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
