import { inSequence } from '../../../extensions/leases/start-renewing.js';

const report = (sentAt: number, steadySince = sentAt) => ({
  holder: 'w',
  sentAt,
  steadySince,
  stops: [],
});

/** Joins the reports of two sources; the second begins to report at `secondAt`. */
function join(secondAt: number) {
  let now = 0;
  const since: number[] = [];
  const next = inSequence(
    ({ steadySince }) => since.push(steadySince),
    1_500,
    () => now,
  );
  const [first, second] = [next(), next()];
  now = 500;
  first(report(100));
  first(report(500, 100));
  now = secondAt;
  second(report(now));
  second(report(now + 400, now));
  // The second source has a gap of its own.
  second(report(now + 5_000));
  return { since, secondAt };
}

it('a source that follows another one without a gap has renewed since the first did', () => {
  expect(join(1_900).since).toEqual([100, 100, 100, 100, 6_900]);
});

it('after a gap between two sources renewals count from its end', () => {
  expect(join(2_000).since).toEqual([100, 100, 2_000, 2_000, 7_000]);
});
