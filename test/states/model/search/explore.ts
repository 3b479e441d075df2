import { NO_REPLY, type Action } from '../actions/action.js';
import { actionsOf } from '../actions/index.js';
import type { Budget, Environment } from '../environment.js';
import type { Records } from '../record/records.js';
import { createEnvironments, createTexts } from './environments.js';
import { reduce } from './reduce.js';
import { createEdges, createStates, type Edges, type States } from './states.js';

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
  const environments = createEnvironments();
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
  states.add(records.first, environments.number(start), 0, () => names.number(''));
  // States are numbered in the order in which they were reached, so this is breadth first.
  for (let from = 0; from < states.size(); from += 1) {
    const record = states.record(from);
    const env = environments.at(states.environment(from));
    for (const action of actionsOf(env, records.facts(record))) {
      const next = nextState(records, record, env, action);
      if (typeof next === 'string') return broken(from, action, next);
      if (next.env === env && next.record === record) continue;
      const environment = environments.number(next.env);
      const to = states.add(next.record, environment, from, () => names.number(action.name));
      if (action.isFair && to !== from) fair.add(from, to);
    }
  }
  return { states, fair, trace };
}

/** The state after an action, or the rule that the action breaks. */
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
