import { randomBytes, randomUUID } from 'node:crypto';
import { equal, includes } from '../assertions.js';
import { newOwner } from './owners.js';
import type { Case, Suite } from '../suite.js';
import type { AddFileInput, AddFileResult, Files, StoredFile } from '../../contract/files.js';

const LIMITS = { files: 3, bytes: 2_000_000 };
const ANN = { owner: 'ann', tenant: 'acme' };
const BOB = { owner: 'b"o b', tenant: 'acme' };

const ACT = { by: 'ann', at: 1, action: 'erase', via: 'api', outcome: 'erased' } as const;

export function fileCases({ describe, it }: Suite): void {
  describe('files of a conversation', () => {
    const cases = (name: string, body: (setup: Case & { files: Files }) => Promise<void>): void => {
      it(name, (setup) => body({ ...setup, files: setup.store.files }));
    };

    cases('the bytes come back exactly, whole and in part', async (setup) => {
      const content = randomBytes(700_001);
      const file = added(await add(setup, { content }));
      includes(file, { bytes: 700_001, owner: 'ann', tenant: 'acme', filename: 'ä "1".png' });
      equal(await setup.files.read(setup.session.id, file.id), file);
      const whole = await setup.files.content(setup.session.id, file.id, { from: 0, to: 700_001 });
      equal(Buffer.compare(whole ?? Buffer.alloc(0), content), 0);
      for (const [from, to] of RANGES) {
        const part = await setup.files.content(setup.session.id, file.id, { from, to });
        equal(Buffer.compare(part ?? Buffer.alloc(0), content.subarray(from, to)), 0);
      }
    });

    cases('a file that is not there is undefined', async ({ files, session }) => {
      equal(await files.read(session.id, 'no-such-file'), undefined);
      equal(await files.content(session.id, 'no-such-file', { from: 0, to: 1 }), undefined);
      equal(await files.list(session.id), []);
      equal(await files.remove(session.id, 'no-such-file'), false);
    });

    cases('number and size are limited, and what is removed makes room', async (setup) => {
      const { files, session } = setup;
      const first = added(await add(setup, { content: randomBytes(1_500_000) }));
      equal(await add(setup, { content: randomBytes(600_000) }), {
        kind: 'exceeded',
        what: 'bytes',
        limit: LIMITS.bytes,
      });
      added(await add(setup));
      added(await add(setup));
      equal(await add(setup), { kind: 'exceeded', what: 'files', limit: LIMITS.files });
      equal(await files.remove(session.id, first.id), true);
      equal(await files.remove(session.id, first.id), false);
      equal(await files.content(session.id, first.id, { from: 0, to: 10 }), undefined);
      added(await add(setup, { content: randomBytes(1_500_000) }));
      equal((await files.list(session.id)).length, 3);
    });

    cases('files that were added at once stay within the limits', async (setup) => {
      const other = (await setup.another()).store.files;
      const results = await Promise.all(
        Array.from({ length: 8 }, (_, n) => add({ ...setup, files: n % 2 ? other : setup.files })),
      );
      equal(results.filter(({ kind }) => kind === 'added').length, LIMITS.files);
    });

    cases('of a conversation that does not exist, they are the first owner’s', async (setup) => {
      added(await add(setup));
      equal(await add(setup, BOB), { kind: 'not_found' });
      // The other tenant is another owner.
      equal(await add(setup, { tenant: 'other' }), { kind: 'not_found' });
    });

    cases('they are there once the conversation exists', async (setup) => {
      const file = added(await add(setup));
      await setup.session.begin(ANN);
      equal(await setup.files.read(setup.session.id, file.id), file);
      added(await add(setup));
      equal(await add(setup, BOB), { kind: 'not_found' });
    });

    cases('the creator of the conversation keeps nothing of another user’s', async (setup) => {
      const file = added(await add(setup));
      await setup.session.begin(BOB);
      equal(await add(setup), { kind: 'not_found' });
      const own = added(await add(setup, BOB));
      equal(await setup.files.read(setup.session.id, file.id), undefined);
      equal(await setup.files.list(setup.session.id), [own]);
    });

    cases('they are erased with the conversation', async (setup) => {
      const { files, session, store } = setup;
      const file = added(await add(setup));
      await session.begin(ANN);
      await store.sessions.erase(session.id, { id: randomUUID(), ...ACT });
      equal(await files.read(session.id, file.id), undefined);
      const [erasure] = await store.erasures.of(session.id);
      equal(erasure?.files, [file.id]);
      await files.forget(session.id, file.id);
      equal(await files.content(session.id, file.id, { from: 0, to: 10 }), undefined);
    });

    cases('their bytes count for the owner of the conversation', async (setup) => {
      const owner = newOwner();
      const { session, store, files } = setup;
      await session.begin(owner);
      const bytes = async (): Promise<number> => {
        await store.owners.fold(session.id);
        return (await store.owners.usage(owner)).bytes;
      };
      const before = await bytes();
      const file = added(await add(setup, { ...owner, tenant: '', content: randomBytes(50_000) }));
      equal(await bytes(), before + 50_000);
      await files.remove(session.id, file.id);
      equal(await bytes(), before);
    });
  });
}

const RANGES = [
  [0, 1],
  [262_143, 262_145],
  [262_144, 524_288],
  [700_000, 700_001],
  [5, 5],
] as const;

function add(
  { files, session }: Pick<Case, 'session'> & { files: Files },
  extra: Partial<AddFileInput> = {},
): Promise<AddFileResult> {
  const file = { id: randomUUID(), mediaType: 'image/png', sha256: 'x', at: Date.now() };
  return files.add({
    ...ANN,
    sessionId: session.id,
    content: randomBytes(10),
    limits: LIMITS,
    file: { ...file, filename: 'ä "1".png' },
    ...extra,
  });
}

function added(result: AddFileResult): StoredFile {
  if (result.kind !== 'added') throw new Error(`add replied ${result.kind}`);
  return result.file;
}
