import { erase } from '../../session/erase.js';
import { newRecord } from '../../session/record.js';
import { saveState } from '../../session/state.js';
import { closeWriter, openWriter } from '../../session/streams.js';
import type { Session } from '../../session/tree.js';
import { createChange, createQueues, type Backend } from '../../store/change.js';
import { createBackend } from '../../store/redis/backend.js';
import { noteInBackground } from '../../store/contract/due.js';
import { createKeyspace } from '../../store/memory/keyspace.js';
import { createLocalAtomic } from '../../store/memory/local-redis.js';
import { createKeySpace } from '../../store/redis/keys.js';

const WRITER = { name: 'w:a', token: 1, agentType: 'tester', runId: '*', step: 0 };
const OPEN = { writer: WRITER, nonce: 'n', now: 1 };

/** Opens a stream that runs `meanwhile` between a load and its commit: the first ones only, by default. */
async function openStream(meanwhile: (append: () => Promise<unknown>) => Promise<void>, times = 1) {
  const atomic = createLocalAtomic(createKeyspace({ now: Date.now }));
  const backend = createBackend({
    ...atomic,
    keys: createKeySpace(),
    keep: { streamMs: 0, sessionMs: 0, entries: 0 },
  });
  const { change } = createChange(backend);
  await change('s', openWriter, OPEN);
  let batch = 0;
  const append = (): Promise<unknown> => {
    batch += 1;
    const args = ['*', 'w:a', '1', String(batch), '1', '0', '', '["x"]'];
    return atomic.append(createKeySpace().append('s'), args);
  };
  let left = times;
  const commit: Backend['commit'] = async (...given) => {
    if (left > 0) await meanwhile(append);
    left -= 1;
    return backend.commit(...given);
  };
  return createChange({ ...backend, commit });
}

const note = (tries: number[]) => (session: Session) => {
  tries.push(session.tree.log.sequence);
  session.existing.owner = 'ann';
};

const appendOnce = async (append: () => Promise<unknown>): Promise<void> => {
  await append();
};

it('a change that reads the end of the log is decided again when that grows, and no entry is lost', async () => {
  const { change, look } = await openStream(appendOnce, 5);
  const tries: number[] = [];
  await change('s', note(tries), {});
  expect(tries).toEqual([0, 1, 2, 3, 4, 5]);
  const found = await look('s', ({ tree, record }) => [tree.log.sequence, record?.owner]);
  expect(found).toEqual([5, 'ann']);
});

it('a change raises the end of the log without an entry', async () => {
  const { change, look } = await openStream(() => Promise.resolve());
  const raise = ({ tree, existing }: Session): void => {
    tree.log.sequence = 7;
    existing.owner = 'ann';
  };
  await change('s', raise, {});
  expect(await look('s', ({ tree }) => tree.log.sequence)).toBe(7);
});

it('a change that needs nothing of the log holds when that grows', async () => {
  const { change, look } = await openStream(appendOnce);
  let tries = 0;
  await change('s', ({ existing }) => void (existing.owner = `try ${String((tries += 1))}`), {});
  const found = await look('s', ({ tree, record }) => [tree.log.sequence, record?.owner]);
  expect(found).toEqual([1, 'try 1']);
});

it.each([
  // The fourth try leaves room for the entries that are appended before its commit.
  ['adds an entry', () => undefined, 4, [0, 1, 2, 3]],
  ['reads entries too', ({ tree }: Session) => tree.log.after(0, 9), 5, [0, 1, 2, 3, 4, 5]],
  ['reads a batch too', (session: Session) => session.batch('w:a'), 5, [0, 1, 2, 3, 4, 5]],
  ['reads notes too', (session: Session) => session.notes('w:a'), 5, [0, 1, 2, 3, 4, 5]],
])(
  'a change that %s is stored although the log grows each time',
  async (_what, read, appends, tries) => {
    const { change, look } = await openStream(appendOnce, 5);
    const ends: number[] = [];
    const add = (session: Session): void => {
      read(session);
      ends.push(session.tree.log.stored);
      session.tree.log.add('["end"]');
    };
    await change('s', add, {});
    expect([...new Set(ends)]).toEqual(tries);
    const found = await look('s', ({ tree }) => tree.log.after(0, 9));
    const writers = found.map(([, writer]) => writer);
    expect(writers).toEqual([...Array<string>(appends).fill('w:a'), '']);
  },
);

it('a change that adds no entry after all leaves no room', async () => {
  const { change, look } = await openStream(appendOnce, 5);
  const decide = ({ tree, existing }: Session): void => {
    if (tree.log.stored < 3) tree.log.add('["end"]');
    existing.owner = String(tree.log.sequence);
  };
  await change('s', decide, {});
  const found = await look('s', ({ tree, record }) => [tree.log.sequence, record?.owner]);
  expect(found).toEqual([5, '5']);
});

it('a writer that another owns is neither opened nor closed', async () => {
  const { change } = await openStream(() => Promise.resolve());
  expect(await change('s', openWriter, { ...OPEN, nonce: 'other' })).toEqual({ kind: 'fenced' });
  expect(await change('s', closeWriter, { name: 'w:a', token: 0 })).toEqual({ kind: 'fenced' });
  expect(await change('s', closeWriter, WRITER)).toEqual({ kind: 'closed' });
});

it('a look waits for no change of its conversation', async () => {
  let looked: unknown;
  const { change, look } = await openStream(async () => {
    looked = await look('s', ({ record }) => record?.owner);
  });
  await change('s', note([]), {});
  expect(looked).toBe('');
});

it('a change is decided beside a note, and stored once that stands', async () => {
  const { change, look } = await openStream(() => Promise.resolve());
  const owner = () => look('s', ({ record }) => record?.owner);
  const tries: number[] = [];
  let stand: () => void = () => undefined;
  const noted = new Promise<void>((resolve) => {
    stand = resolve;
  });
  const changed = change('s', note(tries), {}, { noted });
  while (tries.length === 0) await look('s', () => undefined);
  await look('s', () => undefined);
  expect(await owner()).not.toBe('ann');
  stand();
  await changed;
  expect([tries, await owner()]).toEqual([[0], 'ann']);
});

it('a change whose note fails is not stored', async () => {
  const { change, look } = await openStream(() => Promise.resolve());
  const noted = Promise.reject(new Error('the other node is away'));
  await expect(change('s', note([]), {}, { noted })).rejects.toThrow('the other node is away');
  expect(await look('s', ({ record }) => record?.owner)).not.toBe('ann');
});

it('a note that fails behind a refusal ends no process', async () => {
  const faults: unknown[] = [];
  const fault = (error: unknown): void => void faults.push(error);
  process.on('unhandledRejection', fault);
  void noteInBackground({ note: () => Promise.reject(new Error('away')) }, 's', 1);
  await new Promise(setImmediate);
  process.off('unhandledRejection', fault);
  expect(faults).toEqual([]);
});

describe('a change that uses what a look has kept', () => {
  const nobody = (tries: string[]) => (session: Session) => {
    tries.push(session.existing.owner);
    if (session.existing.owner === 'bob') session.existing.owner = 'eve';
  };
  const keep = { keeps: true };

  it('is decided on it, and stored', async () => {
    const { change, look } = await openStream(() => Promise.resolve());
    const tries: number[] = [];
    await look('s', ({ record }) => record?.owner, keep);
    await change('s', note(tries), {}, { usesKept: true });
    expect([tries, await look('s', ({ record }) => record?.owner)]).toEqual([[0], 'ann']);
  });

  it('is decided again on the newest state if something was stored in between', async () => {
    const { change, look } = await openStream(async (append) => {
      await append();
    });
    const tries: number[] = [];
    await look('s', ({ record }) => record?.owner, keep);
    await change('s', note(tries), {}, { usesKept: true });
    expect(tries).toEqual([0, 1]);
  });

  it('is decided again if it would store nothing', async () => {
    const { change, look } = await openStream(() => Promise.resolve());
    await look('s', ({ record }) => record?.owner, keep);
    await change('s', (session) => void (session.existing.owner = 'bob'), {});
    const tries: string[] = [];
    await change('s', nobody(tries), {}, { usesKept: true });
    expect(tries).toEqual(['', 'bob']);
    expect(await look('s', ({ record }) => record?.owner)).toBe('eve');
  });

  it('is decided at the time that the clock of the store has reached', async () => {
    const { change, look } = await openStream(() => Promise.resolve());
    jest.useFakeTimers();
    const looked = await look('s', ({ tree }) => tree.now, keep);
    jest.advanceTimersByTime(90);
    const times: number[] = [];
    const decide = (session: Session): void => {
      times.push(session.tree.now - looked);
      session.existing.owner = 'ann';
    };
    await change('s', decide, {}, { usesKept: true });
    expect(times).toEqual([90]);
  });

  it('does not use what was kept long ago', async () => {
    const { change, look } = await openStream(() => Promise.resolve());
    jest.useFakeTimers();
    await look('s', ({ record }) => record?.owner, keep);
    jest.advanceTimersByTime(101);
    jest.useRealTimers();
    await change('s', (session) => void (session.existing.owner = 'bob'), {});
    const tries: string[] = [];
    await change('s', nobody(tries), {}, { usesKept: true });
    expect(tries).toEqual(['bob']);
  });
});

it('an erasure that was prepared for an earlier state of its conversation removes nothing', async () => {
  const { change } = await openStream(() => Promise.resolve());
  const noted = { rest: '{}', act: '{}', runId: '', children: 0, fileChanges: 0 };
  const message = JSON.stringify({ type: 'stream_end' });
  for (const other of [{ runId: 's:1-x' }, { children: 1 }, { fileChanges: 1 }]) {
    const input = { message, noted: { ...noted, ...other } };
    expect(await change('s', erase, input)).toEqual({ kind: 'changed' });
  }
  expect(await change('s', erase, { message, noted })).toEqual({ kind: 'erased' });
});

it('a look that has to load twice sees one moment', async () => {
  const backend = createBackend({
    ...createLocalAtomic(createKeyspace({ now: Date.now })),
    keys: createKeySpace(),
    keep: { streamMs: 0, sessionMs: 0, entries: 0 },
  });
  const { change } = createChange(backend);
  const write = (owner: string): Promise<void> =>
    change('s', (session) => void Object.assign((session.record ??= newRecord(1)), { owner }), {});
  await write('ann');
  let loads = 0;
  const load: Backend['load'] = async (...given) => {
    loads += 1;
    if (loads === 2) await write('bob');
    return backend.load(...given);
  };
  const { look } = createChange({ ...backend, load });
  const seen = await look('s', ({ existing, changes, content, rows }) => {
    const read = [content.get('x'), rows.count];
    return [existing.owner, changes, ...read];
  });
  expect(seen).toEqual(['bob', 2, undefined, 0]);
});

it('work of a conversation goes on although what was queued before it fails', async () => {
  const queued = createQueues();
  const failed = queued('s', () => Promise.reject(new Error('lost')));
  const next = queued('s', () => Promise.resolve('done'));
  await expect(failed).rejects.toThrow('lost');
  expect(await next).toBe('done');
});

it('a state is saved once, however often the request is sent', async () => {
  const { change } = await openStream(() => Promise.resolve());
  await change('s', ({ existing }) => void (existing.agent = 'a'), {});
  const save = (nonce: string) =>
    change('s', saveState, { expectedVersion: 0, state: '{}', nonce, now: 1 });
  const saved = { kind: 'saved', version: 1 };
  expect([await save('one'), await save('one'), await save('other')]).toEqual([
    saved,
    saved,
    { kind: 'stale' },
  ]);
});
