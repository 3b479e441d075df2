import type { Action } from '../actions/action.js';
import { actionsOf } from '../actions/index.js';
import type { Budget, Environment } from '../environment.js';
import { toText } from '../environment-text.js';
import type { Records } from '../record/records.js';
import { createEdges, type Edges } from './edges.js';
import { nextState } from './next-state.js';
import { createStates, type States } from './states.js';
import { createTexts } from './texts.js';

export interface Exploration {
  states: States;
  /** Actions that happen sooner or later, whatever else does. */
  fair: Edges;
  /** The first rule that is broken. */
  violation?: Violation;
  /** Actions from the start to a state. */
  trace: (state: number) => string[];
}

export interface Violation {
  rule: string;
  /** The shortest: no other sequence of fewer actions breaks a rule. */
  trace: string[];
}

/** Explores every order of actions that the budget allows, breadth first. */
export function explore(records: Records, budget: Budget): Exploration {
  const states = createStates();
  const environments = createTexts();
  const names = createTexts();
  const fair = createEdges();
  const trace = (state: number): string[] => {
    const actions: string[] = [];
    for (let at = state; at > 0; at = states.parent(at))
      actions.push(names.text(states.action(at)));
    return actions.reverse();
  };
  const broken = (from: number, { name }: Action, rule: string): Exploration => ({
    ...{ states, fair, trace },
    violation: { rule, trace: [...trace(from), name] },
  });

  const start: Environment = { clock: 0, left: budget, workflows: [], actors: [], marks: [] };
  states.add(records.first, environments.number(toText(start)), 0, names.number(''));
  /** Environments of the states that are equally many actions away from the start, by number. */
  let depth = new Map([[0, start]]);
  for (let from = 0, end = 1; from < states.size(); end = states.size()) {
    const deeper: typeof depth = new Map();
    for (; from < end; from += 1) {
      const record = states.record(from);
      const env = depth.get(states.environment(from)) ?? start;
      for (const action of actionsOf(env, records.facts(record))) {
        const next = nextState(records, record, env, action);
        if (typeof next === 'string') return broken(from, action, next);
        const environment = environments.number(toText(next.env));
        const known = states.size();
        const to = states.add(next.record, environment, from, names.number(action.name));
        if (to === known) deeper.set(environment, next.env);
        if (action.isFair && to !== from) fair.add(from, to);
      }
    }
    depth = deeper;
  }
  return { states, fair, trace };
}
