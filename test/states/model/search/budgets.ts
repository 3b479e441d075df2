import type { Budget } from '../environment.js';

export const ONE_MESSAGE: Budget = { messages: 1, stops: 0, faults: 0, leases: 0, jumps: 0 };

type NamedBudget = readonly [what: string, budget: Budget, atLeast: number];

/** What is explored, one budget after the other, and at least how many states each has. */
const BUDGETS: readonly NamedBudget[] = [
  ['two faults and a jump', { ...ONE_MESSAGE, faults: 2, jumps: 1 }, 20_000],
  ['three messages and a stop', { ...ONE_MESSAGE, messages: 3, stops: 1 }, 40_000],
  [
    'two messages, a stop and a fault',
    { ...ONE_MESSAGE, messages: 2, stops: 1, faults: 1 },
    80_000,
  ],
  ['one of each', { messages: 1, stops: 1, faults: 1, leases: 1, jumps: 1 }, 160_000],
];

/** Takes more than a minute of a core. */
const LARGE: NamedBudget = [
  'two messages and one of each, the jump aside',
  { messages: 2, stops: 1, faults: 1, leases: 1, jumps: 0 },
  750_000,
];

/** `MODEL_CHECK=full npm test -- test/states/model/explore` explores more than a million states. */
export function chosenBudgets(): readonly NamedBudget[] {
  return process.env['MODEL_CHECK'] === 'full' ? [...BUDGETS, LARGE] : BUDGETS;
}
