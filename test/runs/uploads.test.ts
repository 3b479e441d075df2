import { formatFileUrl } from '../../protocol/ids.js';
import type { Row } from '../../protocol/rows.js';
import { copyFiles, createUploads, type Uploads } from '../../runs/uploads.js';
import { admit } from '../../extensions/limits/admission.js';
import { toQuotas } from '../../extensions/limits/quotas.js';
import { createMemoryStores, type MemoryStores } from '../../store/memory/index.js';
import type { SessionOwner } from '../../store/contract/waiting.js';
import type { Files } from '../../store/contract/files.js';
import { newSessionId } from '../support/session-driver.js';

const SIZE = 1000;
const ANN: SessionOwner = { owner: 'ann' };
let stores: MemoryStores;
let uploads: Uploads;
beforeEach(() => {
  stores = createMemoryStores();
  uploads = uploadsOver(stores.store.files);
});

function uploadsOver(files: MemoryStores['store']['files']): Uploads {
  return createUploads({
    store: { ...stores.store, files },
    admit: (input) => admit(toQuotas({ bytes: 2.5 * SIZE }), input, stores.store.owners),
    logger: { warn: () => undefined },
  });
}

const upload = (sessionId: string, owner = ANN, over = uploads) =>
  over.upload({ sessionId, ...owner, mediaType: 'text/plain', content: Buffer.alloc(SIZE) });
const used = async (owner = ANN): Promise<number> => (await stores.store.owners.usage(owner)).bytes;

describe('files before the first message', () => {
  it('a file that is removed makes room again', async () => {
    const sessionId = newSessionId();
    const first = await upload(sessionId);
    for (let n = 0; n < 5; n += 1) {
      const { id } = await upload(sessionId);
      expect(await used()).toBe(2 * SIZE);
      await uploads.removeFile(sessionId, id);
      expect(await used()).toBe(SIZE);
    }
    await uploads.removeFile(sessionId, first.id);
    expect(await used()).toBe(0);
  });

  it('a file is charged to its owner within the tenant', async () => {
    await upload(newSessionId(), { owner: 'ann', tenant: 'acme' });
    expect(await used({ owner: 'ann', tenant: 'acme' })).toBe(SIZE);
    expect([await used(), await used({ owner: 'ann', tenant: 'other' })]).toEqual([0, 0]);
  });

  it('a file that is refused, or not stored, is not charged', async () => {
    const sessionId = newSessionId();
    await upload(sessionId);
    await expect(upload(sessionId, { owner: 'bob' })).rejects.toMatchObject({ code: 'not_found' });
    expect(await used({ owner: 'bob' })).toBe(0);
    const add = () => Promise.reject(new Error('the disk is full'));
    const failing = uploadsOver({ add } as unknown as Files);
    await expect(upload(sessionId, ANN, failing)).rejects.toThrow('the disk is full');
    expect(await used()).toBe(SIZE);
  });

  it('a file whose bytes could not be removed stays listed, and is removed by the next try', async () => {
    let isDown = true;
    stores = createMemoryStores({
      files: {
        write: () => Promise.resolve(),
        read: () => Promise.resolve(undefined),
        remove: () =>
          isDown ? Promise.reject(new Error('the bucket is away')) : Promise.resolve(),
      },
    });
    uploads = uploadsOver(stores.store.files);
    const sessionId = newSessionId();
    const { id } = await upload(sessionId);
    await expect(uploads.removeFile(sessionId, id)).rejects.toThrow('cannot be used right now');
    expect(await stores.store.files.read(sessionId, id)).toMatchObject({ id });
    isDown = false;
    expect(await uploads.removeFile(sessionId, id)).toBe(true);
  });
});

it('the copies of files are named wherever a message names the files', async () => {
  const [from, to] = [newSessionId(), newSessionId()];
  const { id } = await upload(from);
  const named = { url: formatFileUrl({ sessionId: from, fileId: id }), mediaType: 'text/plain' };
  const reply = { role: 'assistant', messageId: 'msg-1', runId: `${from}:1-a`, step: 1 } as const;
  const rows: Row[] = [
    { role: 'user', id: 'u1', parts: [{ type: 'file', ...named }] },
    {
      ...reply,
      parts: [
        { type: 'file', ...named },
        { type: 'reasoning', text: '', stands: { type: 'reasoning-file', ...named } },
      ],
    },
    { role: 'user', id: 'u2', parts: [{ type: 'file', ...named, url: 'https://x.example/a' }] },
  ];
  const foreign = newSessionId();
  await upload(foreign, { owner: 'bob' });
  await expect(
    copyFiles(stores.store, uploads.upload, { from, to: foreign, owner: ANN, rows }),
  ).rejects.toMatchObject({ code: 'session_exists' });
  const copied = await copyFiles(stores.store, uploads.upload, { from, to, owner: ANN, rows });
  const [copyId = ''] = copied.ids;
  expect(copied.ids).toHaveLength(1);
  const copy = formatFileUrl({ sessionId: to, fileId: copyId });
  const expected = JSON.stringify(rows).replaceAll(named.url, copy);
  expect(copied.rows).toEqual(JSON.parse(expected));
});
