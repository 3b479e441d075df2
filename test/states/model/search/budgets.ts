import type { Budget } from '../environment.js';

export const ONE_MESSAGE: Budget = { messages: 1, stops: 0, faults: 0, leases: 0, jumps: 0 };

type NamedBudget = readonly [what: string, budget: Budget, atLeast: number];

/** Budgets that `npm test` explores in turn, with the minimum number of states of each. Every pair of events is in one. */
export const BUDGETS: readonly NamedBudget[] = [
  ['two faults', { ...ONE_MESSAGE, faults: 2 }, 6_000],
  ['a stop, a fault and a lease', { ...ONE_MESSAGE, stops: 1, faults: 1, leases: 1 }, 69_000],
  ['a fault and a jump', { ...ONE_MESSAGE, faults: 1, jumps: 1 }, 2_500],
  ['a fault and a second message', { ...ONE_MESSAGE, faults: 1, messages: 2 }, 8_000],
  ['a lease and a jump', { ...ONE_MESSAGE, leases: 1, jumps: 1 }, 1_200],
  ['a lease and a second message', { ...ONE_MESSAGE, leases: 1, messages: 2 }, 3_500],
  ['a stop and a jump', { ...ONE_MESSAGE, stops: 1, jumps: 1 }, 700],
  ['a stop and a second message', { ...ONE_MESSAGE, stops: 1, messages: 2 }, 3_500],
  ['a jump and a second message', { ...ONE_MESSAGE, jumps: 1, messages: 2 }, 1_300],
  ['three messages', { ...ONE_MESSAGE, messages: 3 }, 3_000],
];

/** Additional budgets of `npm run explore -- --deep`. */
export const DEEP_BUDGETS: readonly NamedBudget[] = [
  ['two faults and a jump', { ...ONE_MESSAGE, faults: 2, jumps: 1 }, 17_000],
  ['three messages and a stop', { ...ONE_MESSAGE, messages: 3, stops: 1 }, 31_000],
  ['one of each', { ...ONE_MESSAGE, stops: 1, faults: 1, leases: 1, jumps: 1 }, 200_000],
  [
    'two messages and one of each, the jump aside',
    { messages: 2, stops: 1, faults: 1, leases: 1, jumps: 0 },
    750_000,
  ],
  [
    'two messages, two faults and a stop',
    { ...ONE_MESSAGE, messages: 2, stops: 1, faults: 2 },
    650_000,
  ],
  [
    'two messages and one of each',
    { messages: 2, stops: 1, faults: 1, leases: 1, jumps: 1 },
    2_250_000,
  ],
];
