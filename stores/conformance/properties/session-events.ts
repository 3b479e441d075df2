import fc, { type Arbitrary } from 'fast-check';
import type { CallKind } from '../../../protocol/run.js';

/** One event in the life of a session; numbers select among what exists at that time. */
export type SessionEvent =
  | { do: 'begin' | 'stop' | 'end' }
  | { do: 'claim' | 'discard'; token: number }
  | { do: 'say'; token: number; copies: number }
  | { do: 'commit'; token: number; kinds: CallKind[]; copies: number }
  | { do: 'start' | 'finish'; call: number; token: number }
  | { do: 'decide' | 'answer'; call: number; yes: boolean; copies: number }
  | { do: 'expire'; call: number };

const token = fc.integer({ min: 1, max: 4 });
const call = fc.nat(7);
const copies = fc.integer({ min: 1, max: 2 });
const kinds = fc.array(fc.constantFrom<CallKind>('server', 'approval', 'client'), { maxLength: 3 });

const events: { weight: number; arbitrary: Arbitrary<SessionEvent> }[] = [
  // While a person is asked, a new message abandons the question.
  { weight: 2, arbitrary: fc.record({ do: fc.constant('begin') }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('claim'), token }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('say'), token, copies }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('commit'), token, kinds, copies }) },
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constantFrom('start' as const, 'finish' as const),
      call,
      token: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constantFrom('decide' as const, 'answer' as const),
      call,
      yes: fc.boolean(),
      copies,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('expire'), call }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('discard'), token }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('stop' as const, 'end' as const) }),
  },
];

export const sessionEvents = fc.array(fc.oneof(...events), {
  minLength: 5,
  maxLength: 60,
  size: 'max',
});
