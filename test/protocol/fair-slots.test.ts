import { createFairSlots } from '../../protocol/fair-slots.js';

const LONG_MS = 60_000;

/** Creates slots and lists the users who got one, in order. */
function users(total: number, perUser: number) {
  const slots = createFairSlots({ total, perUser });
  const served: string[] = [];
  const back = new Map<string, (() => void)[]>();
  const come = async (user: string, signal?: AbortSignal, withinMs = LONG_MS): Promise<void> => {
    const giveBack = await slots.take(user, withinMs, signal);
    if (giveBack === undefined) return;
    served.push(user);
    back.set(user, [...(back.get(user) ?? []), giveBack]);
  };
  const leave = async (user: string): Promise<void> => {
    back.get(user)?.shift()?.();
    await new Promise(setImmediate);
  };
  return { served, come, leave };
}

describe('places for tools', () => {
  it('a user’s calls beyond the share wait for slots, and no other user’s do', async () => {
    const { served, come, leave } = users(4, 2);
    for (let n = 0; n < 50; n += 1) void come('ann');
    await come('bob');
    expect(served).toEqual(['ann', 'ann', 'bob']);
    for (let n = 0; n < 5; n += 1) await leave('ann');
    // As many callers may wait as hold a slot; the slots refuse the others.
    expect(served).toEqual(['ann', 'ann', 'bob', 'ann', 'ann']);
  });

  it('go round among those who wait', async () => {
    const { served, come, leave } = users(1, 2);
    await come('ann');
    for (const user of ['ann', 'ann', 'bob', 'bob', 'eve']) void come(user);
    for (const user of ['ann', 'ann', 'bob', 'eve', 'ann', 'bob']) await leave(user);
    expect(served).toEqual(['ann', 'ann', 'bob', 'eve', 'ann', 'bob']);
  });

  it('a slot is not kept for a call that gave up, by a stop or a time-out', async () => {
    const { served, come, leave } = users(1, 1);
    await come('ann');
    const stop = new AbortController();
    const stopped = come('bob', stop.signal);
    const late = come('eve', undefined, 1);
    stop.abort();
    await Promise.all([stopped, late]);
    void come('ivy');
    await leave('ann');
    expect(served).toEqual(['ann', 'ivy']);
    await come('joe', AbortSignal.abort());
    expect(served).toEqual(['ann', 'ivy']);
    // A user who gave up takes no earlier turn.
    for (const user of ['max', 'bob']) void come(user);
    for (const user of ['ivy', 'max']) await leave(user);
    expect(served).toEqual(['ann', 'ivy', 'max', 'bob']);
  });
});
