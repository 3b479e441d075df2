import { checkClocks } from '../../../cli/doctor/check-clocks.js';

/** Returns a reading of a clock that is `ms` ahead of this machine, taken within 100 ms. */
const ahead = (ms: number) => ({ at: 1_000_050 + ms, askedAt: 1_000_000, repliedAt: 1_000_100 });

describe('what doctor says of clocks', () => {
  it('clocks that differ by less than people notice agree', () =>
    expect(checkClocks({ redis: ahead(1_900), temporal: ahead(-1_900) })).toMatchObject([
      { level: 'ok', finding: 'This machine, Redis and Temporal agree.' },
    ]));

  it('a reply that came late says nothing about seconds', () => {
    const slow = { at: 1_004_000, askedAt: 1_000_000, repliedAt: 1_008_000 };
    expect(checkClocks({ redis: { ...slow, at: 1_007_000 } })[0]?.level).toBe('ok');
  });

  it('engines that agree with each other show that this machine is wrong', () =>
    expect(checkClocks({ redis: ahead(-60_000), temporal: ahead(-60_100) })).toMatchObject([
      {
        level: 'fail',
        finding: expect.stringContaining('Redis is 1m behind, Temporal is 1m behind'),
        fix: expect.stringContaining('on this machine.'),
      },
    ]));

  it('an engine that differs from the other and from this machine is named', () =>
    expect(checkClocks({ redis: ahead(0), temporal: ahead(4_000) })).toMatchObject([
      { level: 'warn', fix: expect.stringContaining('on the servers of Temporal.') },
    ]));

  it('with one engine to compare, either may be wrong', () =>
    expect(checkClocks({ redis: ahead(60_000) })).toMatchObject([
      { level: 'fail', fix: expect.stringContaining('on this machine and the servers of Redis') },
    ]));

  it('engines that differ from each other are both named', () => {
    const [verdict] = checkClocks({ redis: ahead(60_000), temporal: ahead(-60_000) });
    expect(verdict?.fix).toContain('the servers of Redis and Temporal');
  });

  it('there is no verdict where no clock could be read', () => expect(checkClocks({})).toEqual([]));
});
