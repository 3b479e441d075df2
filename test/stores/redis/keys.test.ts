import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createCountKey } from '../../../api/identity.js';
import { toVisitorName } from '../../../api/visitor-name.js';
import { toDeliveryId } from '../../../executor/delivery-ids.js';
import { formatChildSessionId } from '../../../protocol/ids.js';
import type { SessionOwner } from '../../../stores/contract/waiting.js';
import { toStoredSessionId } from '../../../stores/record/stored-session-id.js';
import { OWN_KEYS, SHARED_KEYS } from '../../../stores/transitions/lib/session.js';
import { createKeySpace, type KeySpace } from '../../../stores/redis/keys.js';
import { crc16, slotOf, SLOTS } from '../../support/redis-slots.js';
import { newSessionId } from '../../support/session-driver.js';

describe('keys of a session', () => {
  it('live in one slot of a cluster, with those of its sub-agents', () => {
    // The check value of the cluster specification: what follows is worth nothing without it.
    expect(crc16('123456789')).toBe(0x31c3);
    const keys = createKeySpace();
    for (const id of ['a', 'x_-9', newSessionId()]) {
      const children = [1, 2, 31].map((n) => formatChildSessionId(id, n, 'n0nce'));
      const names = [id, ...children].flatMap((each) => [
        ...keys.session(each).all,
        ...keys.append(each),
        keys.channel(each),
      ]);
      const slots = new Set(names.map(slotOf));
      expect([...slots]).toEqual([crc16(id) % SLOTS]);
    }
  });

  it('the keys of a session differ from those of other sessions and prefixes', () => {
    const spaces = ['hx', 'other'].map((prefix) => createKeySpace(prefix));
    const namesOf = (id: string): string[] =>
      spaces.flatMap((keys) => {
        const { all: _all, ...names } = keys.session(id);
        return Object.values(names);
      });
    const conversations = [...namesOf('a'), ...namesOf('b')];
    expect(new Set(conversations).size).toBe(conversations.length);
    // Sub-agents share a stream with their conversation, and what answers are found by.
    const shared: readonly string[] = SHARED_KEYS;
    const own = [1, 2]
      .flatMap((n) => namesOf(formatChildSessionId('a', n, 'x')))
      .filter((name) => !shared.includes(name.slice(name.lastIndexOf(':') + 1)));
    const all = [...conversations, ...own];
    expect(new Set(all).size).toBe(all.length);
    expect(own).toHaveLength(2 * 2 * OWN_KEYS.length);
  });

  it.each(['a b', 'a{b', 'a}b', '{a}', 'a:b', '', 'a.b.c'])(
    'a session cannot have the id "%s"',
    (id) => {
      expect(() => createKeySpace().session(id)).toThrow(
        expect.objectContaining({ code: 'validation_error' }),
      );
    },
  );
});

describe('names of what belongs to somebody', () => {
  const keys = createKeySpace();
  /** Short, and with everything that separates the parts of a key. */
  const name = fc.string({
    unit: fc.constantFrom(...'ab:{}%~|/.*" é'),
    minLength: 1,
    maxLength: 3,
  });
  const id = fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 1, maxLength: 3 });
  const owner = fc.record({ owner: name, tenant: fc.option(name, { nil: undefined }) });
  type Named = (...args: never[]) => unknown;
  type Kinds = { [K in keyof KeySpace as KeySpace[K] extends Named ? K : never]: unknown };

  /** For each kind: something that has names, and those that are its alone. */
  const KINDS: Record<keyof Kinds, fc.Arbitrary<unknown[]>> &
    Record<string, fc.Arbitrary<unknown[]>> = {
    session: named(id, keys.session),
    append: named(id, keys.append),
    channel: named(id, keys.channel),
    outbox: named(id, keys.outbox),
    gone: named(id, keys.gone),
    elsewhere: named(id, keys.elsewhere),
    due: named(fc.tuple(name, fc.nat(19)), ([fleet, shard]) => keys.due(fleet, shard)),
    closed: named(name, keys.closed),
    lease: named(fc.tuple(name, name), ([namespace, holder]) => keys.lease(namespace, holder)),
    leases: named(name, keys.leases),
    tally: named(fc.nat(99), keys.tally),
    waitingIndex: named(owner, keys.waitingIndex),
    tenantWaiting: named(name, keys.tenantWaiting),
    tenantWaitingOf: named(name, (tenant) =>
      keys.tenantWaitingOf(keys.waitingIndex({ owner: ':', tenant })),
    ),
    owner: named(owner, ownNames),
    erasing: named(owner, keys.erasing),
    request: named(id, keys.request),
    pauses: named(fc.tuple(name, name), ([fleet, agent]) => keys.pauses(fleet).held(agent)),
    batch: named(name, keys.batch),
    batchesOf: named(owner, keys.batchesOf),
    audit: named(name, keys.audit),
    auditFeed: named(name, keys.auditFeed),
    'stored session': named(fc.tuple(id, name), ([of, tenant]) => toStoredSessionId(of, tenant)),
    visitor: named(owner, ({ owner: userId, tenant: tenantId }) =>
      toVisitorName({ userId, ...(tenantId && { tenantId }) }),
    ),
    delivery: named(fc.tuple(id, name), ([sessionId, tenant]) =>
      toDeliveryId({ id: 'msg_1', type: 'test', at: 1, sessionId, tenant }, 'ops'),
    ),
  };
  /** Kinds that name the same. */
  const SAME = [
    ['session', 'append', 'channel'],
    ['tenantWaiting', 'tenantWaitingOf'],
  ];

  /** What users of one tenant share is the tenant's. */
  function ownNames({ owner: user, tenant }: SessionOwner): string[] {
    const {
      user: _,
      base,
      holds,
      tenant: sums,
      users,
      spend,
      ...own
    } = keys.owner({ owner: user, tenant });
    return [
      ...Object.values(own),
      ...(tenant === undefined ? [base, holds, sums, users, spend] : []),
    ];
  }

  /** Something, its kind's names for it, and what it is. */
  function named<T>(of: fc.Arbitrary<T>, toNames: (of: T) => unknown): fc.Arbitrary<unknown[]> {
    return of.map((what) => [JSON.stringify(what), toNames(what)]);
  }
  const flat = (names: unknown): string[] =>
    typeof names === 'string' ? [names] : Object.values(names as object).flatMap(flat);

  it('no two of one kind, and no two kinds, share a name', () => {
    const some = fc
      .constantFrom(...Object.keys(KINDS))
      .chain((kind) => KINDS[kind]?.map((each) => [kind, ...each]) ?? fc.constant([]));
    fc.assert(
      fc.property(some, some, ([kind, what, names], [otherKind, other, others]) => {
        const isSame =
          kind === otherKind ||
          SAME.some((kinds) => kinds.includes(String(kind)) && kinds.includes(String(otherKind)));
        fc.pre(!isSame || what !== other);
        const taken = new Set(flat(names));
        expect(flat(others).filter((each) => taken.has(each))).toEqual([]);
      }),
      { numRuns: 5_000 },
    );
  });

  it('a count of requests is one sender’s', async () => {
    const keyOf = ({ owner: userId, tenant: tenantId }: SessionOwner): Promise<string> => {
      const caller = { userId, ...(tenantId !== undefined && { tenantId }) };
      return createCountKey({ authenticate: () => caller }, () => Promise.resolve(caller))(
        {} as never,
      );
    };
    await fc.assert(
      fc.asyncProperty(owner, owner, async (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        expect(await keyOf(one)).not.toBe(await keyOf(other));
      }),
    );
  });
});
