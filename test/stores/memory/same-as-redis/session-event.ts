import fc from 'fast-check';

/** One thing that somebody does to a session; numbers choose among what exists by then. */
const token = fc.oneof(
  { weight: 8, arbitrary: fc.constant(2) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 4 }) },
);
const call = fc.nat(5);
const bool = fc.boolean();
/** Mostly the first. */
const rarely = <T>(usual: T, other: T): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: 7, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constant(other) },
  );

function event<T extends string, S>(name: T, weight: number, shape: S) {
  return { weight, arbitrary: fc.record({ do: fc.constant(name), ...shape }) } as {
    weight: number;
    arbitrary: fc.Arbitrary<
      { do: T } & { [K in keyof S]: S[K] extends fc.Arbitrary<infer V> ? V : never }
    >;
  };
}

const newCall = fc.record({
  kind: fc.constantFrom('server' as const, 'approval' as const, 'client' as const),
  isInvalid: rarely(false, true),
  idempotent: bool,
  deadline: fc.constantFrom('none', 'past', 'future'),
});

const commitShape = {
  token,
  calls: fc.array(newCall, { maxLength: 3 }),
  final: fc.constantFrom(
    undefined,
    undefined,
    'completed' as const,
    'failed' as const,
    'aborted' as const,
  ),
  answersStop: bool,
  hasRow: bool,
  isAhead: rarely(false, true),
  hasUsage: bool,
  hasOutput: rarely(false, true),
};

export const SessionEvent = fc.oneof(
  event('begin', 4, {
    messages: fc.integer({ min: 1, max: 2 }),
    hidden: bool,
    policy: fc.constantFrom(
      'reject' as const,
      'queue' as const,
      'steer' as const,
      'interrupt' as const,
    ),
    as: fc.oneof(
      { weight: 9, arbitrary: fc.constant('owner') },
      { weight: 2, arbitrary: fc.constantFrom('stranger', 'other agent', 'repeat', 'edit') },
    ),
  }),
  event('begin queued', 4, {}),
  event('edit queued', 2, { at: fc.nat(3), isStale: rarely(false, true) }),
  event('remove queued', 1, { at: fc.nat(6) }),
  event('claim', 10, {
    token,
    step: fc.constantFrom(1, 1, 1, 1, 0, 2),
    isAhead: rarely(false, true),
  }),
  event('say', 12, { token, batch: fc.constantFrom(1, 1, 1, 0, 2), isAhead: rarely(false, true) }),
  event('commit', 6, commitShape),
  event('start', 8, { call, token }),
  event('finish', 8, { call, token }),
  event('decide', 8, { call, approved: bool }),
  event('answer', 8, { call, isError: bool }),
  event('discard', 2, { token, failure: fc.integer({ min: 1, max: 3 }), hasUsage: bool }),
  event('expire', 6, { call, as: fc.constantFrom('failed', 'approved', 'denied') }),
  event('extend', 2, { call, by: fc.constantFrom(1, 1_000, 10_000_000_000) }),
  event('stop', 2, {
    mode: fc.constantFrom('interrupt' as const, 'abort' as const),
    isOfThisRun: rarely(true, false),
  }),
  event('take over', 1, {}),
  event('end', 2, {
    status: fc.constantFrom('completed' as const, 'failed' as const, 'interrupted' as const),
    floor: fc.nat(60),
    hasRow: bool,
  }),
  event('rewind', 3, {
    isOfThisRun: rarely(true, false),
    checkpoint: fc.option(fc.nat(4), { nil: undefined }),
    turn: fc.option(fc.nat(6), { nil: undefined }),
    isAgain: bool,
  }),
  event('resume', 4, { isOfThisRun: rarely(true, false), confirmed: bool, isAgain: bool }),
  event('open writer', 3, { name: fc.nat(1), token }),
  event('close writer', 1, { name: fc.nat(1), token }),
  event('write', 5, { name: fc.nat(1), token, batch: fc.nat(4) }),
  event('mark', 3, {
    status: fc.constantFrom(
      'active' as const,
      'paused' as const,
      'ended' as const,
      'failed' as const,
    ),
  }),
  event('truncate', 2, { step: fc.nat(3), isHalf: bool, byAgent: bool }),
  event('save', 3, { isAhead: rarely(false, true) }),
  event('stage', 3, { call: fc.nat(2), step: fc.nat(1) }),
  event('promote', 2, { step: fc.nat(1) }),
  event('drop staged', 1, { step: fc.nat(1) }),
  event('snapshot', 1, {}),
  event('delete', 1, {}),
);

/** What would be done next if nothing went wrong; `choice` decides where there are several ways. */
export const NextEvent = fc.record({
  do: fc.constant('next' as const),
  choice: fc.nat(9),
  commit: fc.record({ do: fc.constant('commit' as const), ...commitShape }),
});
export type NextEvent = typeof NextEvent extends fc.Arbitrary<infer T> ? T : never;

export type SessionEvent = typeof SessionEvent extends fc.Arbitrary<infer T> ? T : never;
export type EventOf<Name extends SessionEvent['do']> = Extract<SessionEvent, { do: Name }>;
