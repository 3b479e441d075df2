import { addTrigger, askersOf, type Trigger } from '../../protocol/run.js';

const MINUTE = 60_000;
const at = (minutes: number, by = 'carl'): Trigger => ({ by, at: minutes * MINUTE });

describe('who asks for a firing, beside the creator of the schedule', () => {
  it.each([
    ['nobody, without a trigger', [], 60, []],
    ['who triggered it', [at(60)], 60, ['carl']],
    ['who triggered it, though clocks differ by a minute', [at(59)], 60, ['carl']],
    ['who triggered it, though it waited for weeks', [at(60), at(9_000, 'dora')], 60, ['carl']],
    ['both of two, the nearer one first', [at(59), at(60, 'dora')], 60, ['dora', 'carl']],
    ['nobody, at a time long after a trigger', [at(50)], 60, []],
  ])('is %s', (_what, triggers, minute, others) => {
    const askers = askersOf({ owner: 'ann', by: 'olga', triggers }, minute * MINUTE);
    expect(askers.map(({ by }) => by)).toEqual(['olga', ...others]);
  });

  it('is the owner for a schedule that names no other, with the accounts of the person', () => {
    expect(askersOf({ owner: 'ann' }, 0)).toEqual([{ by: 'ann' }]);
    const triggers = [{ ...at(0), personId: 'p-carl' }];
    expect(askersOf({ owner: 'ann', by: 'olga', personId: 'p-olga', triggers }, 0)).toEqual([
      { by: 'olga', personId: 'p-olga' },
      { by: 'carl', personId: 'p-carl' },
    ]);
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
    expect(askersOf({ owner: 'ann', triggers }, 1.7 * MINUTE)[1]).toEqual({ by: 'carl' });
  });

  it('are bounded', () => {
    let triggers: readonly Trigger[] = [];
    for (let minute = 1; minute <= 600; minute += 1) triggers = addTrigger(triggers, at(minute));
    expect([triggers.length, triggers[0]]).toEqual([500, at(101)]);
  });
});
