import { describe, expect, it } from '@jest/globals';
import { formatChildSessionId } from '../../../protocol/ids.js';
import { OWN_KEYS, SHARED_KEYS } from '../../../stores/transitions/lib/session.js';
import { createKeySpace } from '../../../stores/redis/keys.js';
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
