import { addTrigger, askerOf, type Trigger } from '../../protocol/triggers.js';

const MINUTE = 60_000;
const at = (minutes: number, by = 'carl'): Trigger => ({ by, at: minutes * MINUTE });

describe('who asks for a firing', () => {
  it.each([
    ['the creator, without a trigger', [], 60, 'olga'],
    ['who triggered it', [at(60)], 60, 'carl'],
    ['who triggered it, though clocks differ by a minute', [at(59)], 60, 'carl'],
    ['who triggered it, though it waited for weeks', [at(60), at(9_000, 'dora')], 60, 'carl'],
    ['the one of two whose trigger is nearer', [at(59), at(60, 'dora')], 60, 'dora'],
    ['the creator, at a time long after a trigger', [at(50)], 60, 'olga'],
  ])('is %s', (_what, triggers, minute, asker) => {
    expect(askerOf({ by: 'olga', triggers }, minute * MINUTE)).toBe(asker);
  });

  it('is the owner alone, who needs no name, for a schedule that names no other', () => {
    expect(askerOf({}, 0)).toBeUndefined();
  });
});

describe('triggers that are noted', () => {
  it('are each noted once', () => {
    const once = addTrigger([], at(1));
    expect(addTrigger(once, at(1))).toBe(once);
    expect(addTrigger(once, at(1, 'dora'))).toEqual([at(1), at(1, 'dora')]);
  });

  it('are those of a person who triggers again behind another, too', () => {
    const triggers = [at(1), at(1.5, 'dora'), at(1.7)].reduce<readonly Trigger[]>(addTrigger, []);
    expect(askerOf({ by: 'olga', triggers }, 1.7 * MINUTE)).toBe('carl');
  });

  it('are bounded', () => {
    let triggers: readonly Trigger[] = [];
    for (let minute = 1; minute <= 600; minute += 1) triggers = addTrigger(triggers, at(minute));
    expect([triggers.length, triggers[0]]).toEqual([500, at(101)]);
  });
});
