import type { Arbitrary } from 'fast-check';
import fc from 'fast-check';

/**
 * One event in the life of a stream. Writers are known by name and attempt. A writer that was
 * killed simply does nothing more, so any event may follow any other.
 */
export type StreamEvent =
  | { do: 'open' | 'close'; name: number; attempt: number }
  | { do: 'append'; name: number; attempt: number; step: number; count: number; copies: number }
  /** A writer that skipped a batch, or that has seen more than a restored store holds. */
  | { do: 'skip'; name: number; attempt: number; what: 'batch' | 'known' }
  | { do: 'pause' | 'resume' | 'end' | 'fail' }
  | { do: 'truncate'; step: number; keep: number }
  | { do: 'read' | 'follow'; from: number };

const name = fc.nat(1);
const attempt = fc.integer({ min: 1, max: 4 });
/** A position, as a share of the log. */
const share = fc.nat(100);

const events: { weight: number; arbitrary: Arbitrary<StreamEvent> }[] = [
  { weight: 8, arbitrary: fc.record({ do: fc.constant('open'), name, attempt }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('close'), name, attempt }) },
  {
    weight: 24,
    arbitrary: fc.record({
      do: fc.constant('append'),
      name,
      attempt,
      step: fc.integer({ min: 1, max: 3 }),
      count: fc.integer({ min: 1, max: 3 }),
      copies: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('skip'),
      name,
      attempt,
      what: fc.constantFrom('batch' as const, 'known' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'resume' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('end' as const, 'fail' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('truncate'),
      step: fc.integer({ min: 0, max: 3 }),
      keep: share,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('read' as const, 'follow' as const),
      from: share,
    }),
  },
];

export const streamEvents = fc.array(fc.oneof(...events), {
  minLength: 5,
  maxLength: 60,
  size: 'max',
});
