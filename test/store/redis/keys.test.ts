import type { Request } from 'express';
import { createCountKey } from '../../../api/identity.js';
import { formatChildSessionId } from '../../../protocol/ids.js';
import { toVisitorName } from '../../../protocol/actor.js';
import { toDeliveryId } from '../../../runs/deliveries.js';
import type { SessionOwner } from '../../../store/contract/waiting.js';
import { toStoredSessionId } from '../../../store/record/stored-session-id.js';
import { createKeySpace, OWN_KEYS, SHARED_KEYS, type KeySpace } from '../../../store/redis/keys.js';
import { crc16, slotOf, SLOTS } from '../../support/redis-slots.js';
import { newSessionId } from '../../support/session-driver.js';

describe('keys of a session', () => {
  it('live in one slot of a cluster, with those of its sub-agents', () => {
    // The cluster specification's check value proves the helper before the test relies on it.
    expect(crc16('123456789')).toBe(0x31c3);
    const keys = createKeySpace();
    for (const id of ['a', 'x_-9', newSessionId()]) {
      const children = [1, 2, 31].map((n) => formatChildSessionId(id, n, 'n0nce'));
      const names = [id, ...children].flatMap((each) => [
        ...Object.values(keys.session(each)),
        ...keys.append(each),
      ]);
      const slots = new Set(names.map(slotOf));
      expect([...slots]).toEqual([crc16(id) % SLOTS]);
    }
  });

  it('appends are published on the channel of the session, in each database', () => {
    for (const keys of [createKeySpace(), createKeySpace('hx', 3)]) {
      expect(keys.append('a').at(-1)).toBe(keys.session('a').channel);
    }
  });

  it('have names on which other builds and access rules rely', () => {
    const keys = createKeySpace();
    expect(keys.session('a')).toMatchObject({ root: 'hx:{a}:root', channel: 'hx:{a}:channel' });
    const child = formatChildSessionId('a', 1, 'x');
    expect(keys.session(child).writers).toBe(`hx:{a}:${child.slice(2)}:writers`);
  });

  it('the keys of a session differ from those of other sessions and prefixes', () => {
    const spaces = ['hx', 'other'].map((prefix) => createKeySpace(prefix));
    const namesOf = (id: string): string[] =>
      spaces.flatMap((keys) => Object.values(keys.session(id)));
    const conversations = [...namesOf('a'), ...namesOf('b')];
    expect(new Set(conversations).size).toBe(conversations.length);
    // Sub-agents share their conversation's stream and the index by which answers are found.
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
  /** Names with every character that separates parts of a key. */
  const NAMES = ['a', 'b', 'a:b', ':', '%3A', '{a}', '}', 'u:a', 't:a', '~', 'a~b', 'é', '*'];
  const IDS = ['a', 'b', 'a-b', 'owner', 'gone'];
  const OWNERS = NAMES.flatMap((owner) =>
    [undefined, ...NAMES].map((tenant): SessionOwner => ({
      owner,
      ...(tenant !== undefined && { tenant }),
    })),
  );
  const PAIRS = NAMES.flatMap((one) => NAMES.map((other) => [one, other] as const));
  const callerOf = ({ owner: userId, tenant: tenantId }: SessionOwner) => ({
    userId,
    ...(tenantId !== undefined && { tenantId }),
  });
  type Kinds = { [K in keyof KeySpace as KeySpace[K] extends Named ? K : never]: unknown };
  type Named = (...args: never[]) => unknown;

  /** Pairs each value with its names. */
  const named = <T>(
    of: readonly T[],
    toNames: (of: T) => unknown,
  ): [what: string, names: unknown][] => of.map((what) => [JSON.stringify(what), toNames(what)]);

  /** Splits names into a user's own and those that the users of one tenant share. */
  function namesOf(of: SessionOwner): { own: string[]; shared: string[] } {
    const { user: _, base, tenant: sums, users, spend, ...own } = keys.owner(of);
    return { own: Object.values(own), shared: [base, sums, users, spend] };
  }

  const KINDS: Record<keyof Kinds, [string, unknown][]> & Record<string, [string, unknown][]> = {
    session: named(IDS, keys.session),
    append: named(IDS, keys.append),
    outbox: named(IDS, keys.outbox),
    gone: named(IDS, keys.gone),
    elsewhere: named(IDS, keys.elsewhere),
    due: named(PAIRS, ([fleet, of]) => keys.due(fleet, NAMES.indexOf(of))),
    work: named(PAIRS, ([fleet, work]) => keys.work(fleet, work)),
    lease: named(PAIRS, ([namespace, holder]) => keys.lease(namespace, holder)),
    leases: named(NAMES, keys.leases),
    waitingIndex: named(OWNERS, keys.waitingIndex),
    tenantWaiting: named(NAMES, keys.tenantWaiting),
    tenantWaitingOf: named(NAMES, (tenant) =>
      keys.tenantWaitingOf(keys.waitingIndex({ owner: ':', tenant })),
    ),
    owner: named(OWNERS, (of) => (of.tenant === undefined ? namesOf(of) : namesOf(of).own)),
    tenant: named(NAMES, (tenant) => namesOf({ owner: ':', tenant }).shared),
    erasing: named(OWNERS, keys.erasing),
    request: named(IDS, keys.request),
    pauses: named(PAIRS, ([fleet, agent]) => keys.pauses(fleet).held(agent)),
    audit: named(NAMES, keys.audit),
    'stored session': named(PAIRS, ([id, tenant]) => toStoredSessionId(id, tenant)),
    visitor: named(OWNERS, (of) => toVisitorName(callerOf(of))),
    delivery: named(PAIRS, ([sessionId, tenant]) =>
      toDeliveryId({ id: 'msg_1', type: 'test', at: 1, sessionId, tenant }, 'ops'),
    ),
  };
  /** Kinds that name the same things. */
  const SAME: Record<string, string> = {
    append: 'session',
    channel: 'session',
    tenantWaitingOf: 'tenantWaiting',
  };
  const flat = (names: unknown): string[] =>
    typeof names === 'string' ? [names] : Object.values(names as object).flatMap(flat);

  it('no two of one kind, and no two kinds, share a name', () => {
    const taken = new Map<string, string>();
    const clashes: string[][] = [];
    for (const [kind, all] of Object.entries(KINDS)) {
      for (const [what, names] of all) {
        const whose = `${SAME[kind] ?? kind} ${what}`;
        for (const name of flat(names)) {
          const before = taken.get(name) ?? whose;
          if (before !== whose) clashes.push([name, before, whose]);
          taken.set(name, whose);
        }
      }
    }
    expect(clashes).toEqual([]);
  });

  it('the requests of no two senders are counted together', async () => {
    const keysOf = OWNERS.map((of) => {
      const caller = callerOf(of);
      const read = createCountKey({ authenticate: () => caller }, () => Promise.resolve(caller));
      return read({} as Request);
    });
    expect(new Set(await Promise.all(keysOf)).size).toBe(OWNERS.length);
  });
});
