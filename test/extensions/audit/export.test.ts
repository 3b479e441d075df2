import { Writable } from 'node:stream';
import type { Request, Response } from 'express';
import type { RouteDeps } from '../../../api/deps.js';
import { audit } from '../../../extensions/audit/index.js';
import { LIMITS } from '../../../protocol/limits.js';
import type { Audit } from '../../../store/contract/audit.js';

const entry = { id: 'e', at: 1, actor: 'rule', via: 'auto', action: 'expire', target: {} } as const;

/** Exports the trail to a client that reads through `write`. */
function exportTo(
  page: Audit['page'],
  write: (done: () => void) => void,
  { query = {}, record = () => Promise.resolve([]) }: { query?: object; record?: unknown } = {},
) {
  const route = audit().routes?.find(({ id }) => id === 'exportAudit');
  const client = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => write(done),
  });
  const set = () => response;
  const asked = { set, type: set, flushHeaders: () => undefined, req: { method: 'GET' } };
  const response = Object.assign(client, asked);
  const deps = {
    stateStore: { audit: { page, record } },
    readIdentity: () => Promise.resolve({ userId: 'op', roles: ['operator'] }),
  };
  const request = { query, get: () => undefined };
  const ended = route?.answer(
    deps as unknown as RouteDeps,
    request as unknown as Request,
    response as unknown as Response,
  );
  return { client, ended };
}

it('an export reads no further than its client takes it', async () => {
  let pages = 0;
  const page: Audit['page'] = () => {
    pages += 1;
    const entries = Array.from({ length: 100 }, () => ({
      n: 1,
      entry: { ...entry, outcome: 'stored' },
    }));
    return Promise.resolve({ entries, ...(pages < 50 && { cursor: 'more' }) });
  };
  let isStuck: () => void = () => undefined;
  const stuck = new Promise<void>((resolve) => (isStuck = resolve));
  // The client takes the first line and then no more.
  const { client, ended } = exportTo(page, isStuck);
  await stuck;
  for (let turn = 0; turn < 1_000; turn += 1) await new Promise(setImmediate);
  expect(pages).toBe(1);
  client.destroy();
  await ended;
  expect(pages).toBe(1);
});

it('a fault ends the connection, not the reply', async () => {
  let pages = 0;
  const page: Audit['page'] = () => {
    pages += 1;
    if (pages === 2) return Promise.reject(new Error('Redis is away'));
    return Promise.resolve({
      entries: [{ n: 1, entry: { ...entry, outcome: 'stored' } }],
      cursor: 'more',
    });
  };
  const { client, ended } = exportTo(page, (done) => done());
  const closed = new Promise((resolve) => client.once('close', resolve));
  await expect(ended).rejects.toThrow('Redis is away');
  await closed;
  expect([client.destroyed, client.writableFinished]).toEqual([true, false]);
});

it("an export of one person's acts is an entry about that person, and has all that were asked for", async () => {
  const recorded: unknown[][] = [];
  const record = (...told: unknown[]) => {
    recorded.push(told);
    return Promise.resolve([]);
  };
  const asked: object[] = [];
  const page: Audit['page'] = (_, filter) => {
    asked.push(filter);
    return Promise.resolve({ entries: [], ...(asked.length === 1 && { cursor: 'more' }) });
  };
  const [since, until] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];
  const query = { actor: 'ann', action: 'stop', since, until };
  await exportTo(page, (done) => done(), { query, record }).ended;
  expect(recorded).toMatchObject([[{ action: 'export' }, { person: 'ann' }]]);
  const times = { since: Date.parse(since), until: Date.parse(until) };
  const all = { ...query, ...times, limit: LIMITS.auditPage };
  expect(asked).toEqual([all, { ...all, cursor: 'more' }]);
});
