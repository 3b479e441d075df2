import { judgeLease, see, type Sighting } from '../../../extensions/leases/judge.js';
import { TIMES } from '../../../protocol/times.js';

const heldFor = (leftMs: number) => ({ leftMs, isEnded: false });
const HELD = heldFor(1_500);
const LAPSED = { leftMs: 0, isEnded: false };

/** Returns the sighting after these looks. */
function after(...looks: [at: number, state: typeof HELD][]): Sighting {
  let sighting: Sighting | undefined;
  for (const [at, state] of looks) sighting = see(sighting, state, at);
  if (sighting === undefined) throw new Error('there was no look');
  return sighting;
}

describe('a lease that lapsed in sight of a steady judge', () => {
  // The last renewal was at 10,000, so the lease lapses at 11,500.
  const seen = after(
    [10_000, HELD],
    [10_600, heldFor(900)],
    [11_100, heldFor(400)],
    [11_600, LAPSED],
  );

  it('is judged 300 ms after it lapsed, except for calls that may not be repeated', () => {
    expect(judgeLease(seen, 0, 11_600)).toEqual({ takes: 'none', againMs: 200 });
    expect(judgeLease(seen, 0, 11_799).takes).toBe('none');
    expect(judgeLease(seen, 0, 11_800).takes).toBe('most');
    expect(judgeLease(seen, 0, 21_499).takes).toBe('most');
  });

  it('calls that may not be repeated are taken over after ten seconds', () => {
    expect(judgeLease(seen, 0, 21_500).takes).toBe('all');
  });

  it('is not judged while the judge cannot renew its own', () => {
    expect(judgeLease(seen, undefined, 60_000).takes).toBe('none');
  });

  it('a judge whose own renewals had a gap waits three seconds from its end', () => {
    expect(judgeLease(seen, 12_000, 14_999)).toEqual({ takes: 'none', againMs: 1 });
    expect(judgeLease(seen, 12_000, 15_000).takes).toBe('most');
    expect(judgeLease(seen, 12_000, 21_999).takes).toBe('most');
    expect(judgeLease(seen, 12_000, 22_000).takes).toBe('all');
  });
});

describe('a lease that a judge never saw held', () => {
  const found = after([5_000, LAPSED], [5_400, LAPSED]);

  it('is judged after it stayed lapsed for three seconds', () => {
    expect(judgeLease(found, 0, 7_999).takes).toBe('none');
    expect(judgeLease(found, 0, 8_000).takes).toBe('most');
  });

  it('is judged at once if its process is known to have ended', () => {
    const ended = after([5_000, { leftMs: 0, isEnded: true }]);
    expect(judgeLease(ended, undefined, 5_000)).toEqual({ takes: 'all' });
  });
});

describe('a lease that is renewed again', () => {
  it('is not judged, and its next lapse counts from its beginning', () => {
    const back = after([1_000, HELD], [3_000, LAPSED], [3_100, HELD]);
    expect(judgeLease(back, 0, 3_200).takes).toBe('none');
    const last = see(see(back, heldFor(700), 3_900), heldFor(100), 4_500);
    const again = see(last, LAPSED, 5_000);
    expect(again.lapsedAt).toBe(4_600);
    expect(judgeLease(again, 0, 4_899).takes).toBe('none');
    expect(judgeLease(again, 0, 5_000).takes).toBe('most');
  });

  it('counts as lapsed only since a look, if the one before was too long ago', () => {
    // The worker renewed in between, then stood still for a moment before the second look.
    const late = after([1_000, HELD], [21_000, LAPSED]);
    expect(judgeLease(late, 0, 21_000)).toEqual({ takes: 'none', againMs: TIMES.graceMs });
    expect(judgeLease(see(late, HELD, 21_100), 0, 21_100).takes).toBe('none');
    // Two lapsed looks in a row stay one lapse, however far apart they are.
    expect(judgeLease(see(late, LAPSED, 41_000), 0, 41_000).takes).toBe('all');
  });

  it('the next look comes when it could be judged', () => {
    expect(judgeLease(after([1_000, HELD]), 0, 1_000)).toEqual({
      takes: 'none',
      againMs: TIMES.leaseMs + TIMES.graceMs,
    });
  });
});
