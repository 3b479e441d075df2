import { createUploads, type Uploads } from '../../runs/uploads.js';
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
    await upload(sessionId);
    for (let n = 0; n < 5; n += 1) {
      const { id } = await upload(sessionId);
      expect(await used()).toBe(2 * SIZE);
      await uploads.removeFile(sessionId, id);
      expect(await used()).toBe(SIZE);
    }
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
    await expect(uploads.removeFile(sessionId, id)).rejects.toThrow('the bucket is away');
    expect(await stores.store.files.read(sessionId, id)).toMatchObject({ id });
    isDown = false;
    expect(await uploads.removeFile(sessionId, id)).toBe(true);
  });
});
