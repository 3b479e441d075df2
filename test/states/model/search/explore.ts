import { isTerminal } from '../../../../protocol/run.js';
import { actionsOf } from '../actions.js';
import { NO_REPLY, type Action } from '../actors.js';
import type { Budget, Environment } from '../environment.js';
import type { Records } from '../record/records.js';
import { createEnvironments } from './environments.js';
import { reduce } from './reduce.js';

/** A record with its environment and the last action of a shortest trace to it. */
interface State {
  record: number;
  env: Environment;
  action: string;
  parent: State | undefined;
}

export interface Exploration {
  states: number;
  violation?: Violation | undefined;
}

export interface Violation {
  rule: string;
  /** The shortest trace: no shorter sequence of actions breaks a rule. */
  trace: string[];
}

/** Limit on environments, beyond which their numbers would collide. */
const MAX = 2 ** 26;

/** Explores every order of actions within the budget, breadth first. */
export function explore(records: Records, budget: Budget): Exploration {
  const numbered = createEnvironments();
  const states: State[] = [];
  const numbers = new Map<number, number>();
  /** Pairs of states that a fair action connects. */
  const fair: number[] = [];

  function add(record: number, env: Environment, action: string, parent?: State): number {
    const environment = numbered(env);
    const key = record * MAX + environment.number;
    let number = numbers.get(key);
    if (number === undefined) {
      number = states.push({ record, env: environment.env, action, parent }) - 1;
      numbers.set(key, number);
    }
    return number;
  }

  add(records.first, { clock: 0, left: budget, workflows: [], actors: [], marks: [] }, '');
  // States are numbered in the order of discovery, so this is breadth first.
  for (const [from, state] of states.entries()) {
    const { record, env } = state;
    for (const action of actionsOf(env, records.facts(record))) {
      const next = nextState(records, record, env, action);
      if (typeof next === 'string') {
        const trace = [...traceTo(state), action.name];
        return { states: states.length, violation: { rule: next, trace } };
      }
      if (next.env === env && next.record === record) continue;
      const to = add(next.record, next.env, action.name, state);
      if (action.isFair && to !== from) fair.push(from, to);
    }
  }
  return { states: states.length, violation: findStuck(states, fair, records) };
}

function traceTo(state: State): string[] {
  return state.parent === undefined ? [] : [...traceTo(state.parent), state.action];
}

/** Returns the state after an action, or the rule that the action breaks. */
function nextState(
  records: Records,
  record: number,
  env: Environment,
  { request, then }: Action,
): { record: number; env: Environment } | string {
  const effect =
    request === undefined
      ? { to: record, reply: NO_REPLY, violation: undefined }
      : records.send(record, request, env.clock);
  if (effect.violation !== undefined) return effect.violation;
  const after = then(effect.reply, records.facts(record));
  if (typeof after === 'string') return after;
  return { record: effect.to, env: reduce(after, records.facts(effect.to)) };
}

/**
 * P3: fair actions alone (workers work, people answer, the sweep runs) bring the conversation to
 * rest from every state, without further messages or stops.
 *
 * @returns the first state that violates this
 */
function findStuck(
  states: readonly State[],
  fair: readonly number[],
  records: Records,
): Violation | undefined {
  const rests = states.map((state) => {
    const { record } = records.facts(state.record);
    return record === undefined || (isTerminal(record.status) && record.queued === 0);
  });
  // Most actions lead to states that were found later, so few rounds suffice.
  for (let isNew = true; isNew;) {
    isNew = false;
    for (let edge = fair.length - 2; edge >= 0; edge -= 2) {
      const [from = 0, to = 0] = [fair[edge], fair[edge + 1]];
      if (rests[from] === true || rests[to] !== true) continue;
      rests[from] = true;
      isNew = true;
    }
  }
  const stuck = states[rests.indexOf(false)];
  if (stuck === undefined) return undefined;
  return { rule: 'P3, rest is reachable from every state', trace: traceTo(stuck) };
}
