import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ActivityDeps, MadeFiles } from '../../activities/deps.js';
import { madeFiles } from '../../activities/model/made-files.js';
import type { ClaimedStep, ModelRequest } from '../../activities/model/middleware.js';
import type { MadeFile } from '../../activities/model/step-reply.js';
import { createUploads } from '../../runs/uploads.js';
import { quotaExceeded } from '../../extensions/limits/quotas.js';
import { formatFileUrl } from '../../protocol/ids.js';
import type { UserPart } from '../../protocol/rows.js';
import type { RunRecord } from '../../store/contract/runs.js';
import { createHarness, type ActivityHarness } from '../support/activity-harness.js';
import { fakeModel, parts, type Script } from '../support/fake-model.js';
import { rateLimited } from './hanging-model.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';

const SIZE = 300 * 1024;
const image = (fill: string): LanguageModelV4StreamPart => ({
  type: 'file',
  mediaType: 'image/png',
  data: { type: 'data', data: Buffer.alloc(SIZE, fill).toString('base64') },
});
const toImagePart = (url: string): UserPart => ({ type: 'file', url, mediaType: 'image/png' });
const ended = parts.says('Here.');

let stores: TestStores;
beforeEach(async () => {
  stores = await openTestStores();
});

function openUploads(): MadeFiles {
  const admit = () => Promise.resolve(() => undefined);
  const logger = { warn: () => undefined };
  return createUploads({ store: stores.store, admit, logger });
}

function serve(script: Script, more: Partial<MadeFiles> = {}): ActivityHarness {
  const uploads = { ...openUploads(), ...more };
  return createHarness(stores, { model: fakeModel(script), uploads });
}

/** The first byte of each file of the conversation. */
async function stored({ session }: ActivityHarness): Promise<string[]> {
  const { files } = stores.store;
  const firsts: string[] = [];
  for (const { id } of await files.list(session.id)) {
    const first = await files.content(session.id, id, { from: 0, to: 1 });
    firsts.push(Buffer.from(first ?? '').toString());
  }
  return firsts;
}

const errors = async ({ session }: ActivityHarness) =>
  (await session.messages('error')).map(({ code }) => code);

describe('files that a model makes', () => {
  it('of a reply that its provider broke off are removed', async () => {
    const harness = serve((n) =>
      n === 0 ? [image('a'), { type: 'error', error: rateLimited() }] : [image('b'), ...ended],
    );
    const run = await harness.begin();
    expect(await harness.play(run)).toMatchObject({ status: 'completed' });
    expect(await stored(harness)).toEqual(['b']);
  });

  it('of an attempt that was lost are removed by the next one', async () => {
    let begun: () => void = () => undefined;
    const isStored = new Promise<void>((resolve) => (begun = resolve));
    const own = openUploads();
    const upload: MadeFiles['upload'] = async (input) => {
      const file = await own.upload(input);
      begun();
      return file;
    };
    let takeOver: () => void = () => undefined;
    const isTakenOver = new Promise<void>((resolve) => (takeOver = resolve));
    async function* hanging(): AsyncGenerator<LanguageModelV4StreamPart> {
      yield image('a');
      await isTakenOver;
      yield* parts.text('late');
    }
    const script: Script = (n) => (n === 0 ? hanging() : [image('b'), ...ended]);
    const harness = serve(script, { upload });
    const run = await harness.begin();
    const lost = harness.step(run, 1, 1).catch(() => undefined);
    await isStored;
    expect(await harness.step(run, 1, 2)).toMatchObject({ status: 'completed' });
    takeOver();
    await lost;
    expect(await stored(harness)).toEqual(['b']);
  });

  it('of a reply that a later attempt has stored stay when a replaced one clears up', async () => {
    let listed: () => void = () => undefined;
    let release: () => void = () => undefined;
    const isListing = new Promise<void>((resolve) => (listed = resolve));
    const released = new Promise<void>((resolve) => (release = resolve));
    const { files } = stores.store;
    const list: typeof files.list = async (id) => {
      listed();
      await released;
      return files.list(id);
    };
    const slow = { ...stores, store: { ...stores.store, files: { ...files, list } } };
    const model = fakeModel(() => [image('b'), ...ended]);
    const harness = createHarness(stores, { model, uploads: openUploads() });
    const late = { model: fakeModel(() => ended), uploads: openUploads() };
    const replaced = createHarness(slow, late, harness.session);
    const run = await harness.begin();
    const lost = replaced.step(run, 1, 2).catch(() => undefined);
    await isListing;
    expect(await harness.step(run, 1, 3)).toMatchObject({ status: 'completed' });
    release();
    await lost;
    expect(await stored(harness)).toEqual(['b']);
  });

  it('of a reply that was regenerated are removed, and those that a message names are not', async () => {
    const made = ['a', 'b', 'c'];
    const harness = serve((n) => [image(made[n] ?? 'd'), ...ended]);
    const { session } = harness;
    const play = async (run: RunRecord): Promise<void> => {
      expect(await harness.play(run)).toMatchObject({ status: 'completed' });
    };
    await play(await harness.begin());
    await play(await harness.begin());
    expect(await stored(harness)).toEqual(['a', 'b']);
    const again = await session.retry({});
    if (again.kind !== 'rewound') throw new Error(again.kind);
    await play(again.run);
    expect(await stored(harness)).toEqual(['a', 'c']);
    // The user sends the file of the reply in place of the message that it answered.
    const newest = (await stores.store.files.list(session.id)).find(
      ({ madeBy }) => madeBy?.startsWith(again.run.runId) === true,
    );
    const url = formatFileUrl({ sessionId: session.id, fileId: newest?.id ?? '' });
    const row = { role: 'user' as const, id: 'u9', parts: [toImagePart(url)] };
    const edited = await session.retry({
      messageId: 'u2',
      messages: [{ id: 'u9', hash: 'u9', row, hidden: false }],
    });
    if (edited.kind !== 'rewound') throw new Error(edited.kind);
    await play(edited.run);
    expect((await stored(harness)).sort()).toEqual(['a', 'c', 'd']);
  });

  it('beyond what their owner may have are not kept, and the reply is', async () => {
    const own = openUploads();
    let uploaded = 0;
    const upload: MadeFiles['upload'] = (input) =>
      uploaded++ === 0
        ? own.upload(input)
        : Promise.reject(quotaExceeded({ what: 'bytes', of: 'user', limit: SIZE, used: SIZE }));
    const harness = serve(() => [image('a'), image('b'), ...ended], { upload });
    const run = await harness.begin();
    expect(await harness.play(run)).toMatchObject({ status: 'completed' });
    expect(await errors(harness)).toEqual(['quota_exceeded']);
    expect(await stored(harness)).toEqual(['a']);
  });

  /** Asks a model in the second run of a conversation, and returns the files that are removed. */
  async function removedBy(
    sessions: readonly ({ owner: string } | undefined)[],
    listed: readonly { id: string; madeBy: string }[] = [],
  ): Promise<string[]> {
    const removed: string[] = [];
    const reads = sessions.values();
    const deps = {
      store: {
        sessions: { read: () => Promise.resolve(reads.next().value) },
        files: { list: () => Promise.resolve(listed) },
      },
      uploads: {
        upload: () => Promise.resolve({ id: 'made' }),
        removeFile: (_: string, id: string) => Promise.resolve(removed.push(id) > 0),
      },
    };
    const ref = { sessionId: 's1', runId: 's1:2-b', step: 1 };
    const claim = { hasDroppedCalls: true };
    const step = { ref, attempt: { token: 1, number: 1 }, claim, rows: [], warn: () => undefined };
    const request = {} as ModelRequest;
    const ask = madeFiles(deps as unknown as ActivityDeps)(step as unknown as ClaimedStep);
    await ask(request, () => Promise.resolve({ request }));
    await request.keepFile?.(image('a') as MadeFile);
    return removed;
  }

  it('of a conversation that was erased meanwhile are removed', async () => {
    expect(await removedBy([{ owner: 'ann' }, { owner: 'ann' }])).toEqual([]);
    expect(await removedBy([{ owner: 'ann' }, undefined])).toEqual(['made']);
  });

  it('of dropped replies are removed, and those of a later run are not', async () => {
    const listed = ['s1:1-a 4 1', 's1:3-c 1 1'].map((madeBy) => ({ id: madeBy, madeBy }));
    expect(await removedBy([{ owner: 'ann' }, { owner: 'ann' }], listed)).toEqual(['s1:1-a 4 1']);
  });

  it('are not kept by a runtime that stores none', async () => {
    const model = fakeModel(() => [image('a'), ...ended]);
    const harness = createHarness(stores, { model });
    expect(await harness.play(await harness.begin())).toMatchObject({ status: 'completed' });
    expect(await errors(harness)).toEqual(['chunk_too_large']);
  });
});
