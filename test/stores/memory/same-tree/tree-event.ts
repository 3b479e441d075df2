import fc from 'fast-check';

export type Kind = 'server' | 'approval' | 'client' | 'subagent';

/** One thing that happens in a conversation; numbers choose among what exists by then. */
export const TreeEvent = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('step' as const),
      of: fc.nat(9),
      kinds: fc.array(
        fc.constantFrom<Kind>('subagent', 'subagent', 'approval', 'client', 'server'),
        { maxLength: 3 },
      ),
    }),
  },
  {
    weight: 20,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'start' as const,
        'finish' as const,
        'decide' as const,
        'answer' as const,
      ),
      call: fc.nat(9),
      yes: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('settle child' as const), call: fc.nat(9) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), of: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('stop' as const, 'begin' as const), of: fc.nat(9) }),
  },
);
export type TreeEvent = typeof TreeEvent extends fc.Arbitrary<infer T> ? T : never;
