import { spend, type Environment } from '../environment.js';
import { callOf } from '../plan.js';
import type { Call } from '../../../../session/record.js';
import type { Facts } from '../record/facts.js';
import { answer, expire, result } from '../requests/people.js';
import type { Request } from '../requests/request.js';
import { wakeAll } from '../workflows.js';
import { withLoss, type Action } from './action.js';

/** Returns answers by people and pages, and the expiry of overdue calls. */
export function answerActions(env: Environment, facts: Facts): Action[] {
  const { clock } = env;
  const actions: Action[] = [];
  for (const [id, call] of facts.calls) {
    const add = (name: string, request: Request, mark?: string): void => {
      actions.push(...answered(env, id, call, { name: `${name} ${id}`, request, mark }));
    };
    const { kind } = callOf(id);
    if (kind === 'approval') {
      add('approve', answer(id, true, clock), `y${id}`);
      add('deny', answer(id, false, clock));
    } else if (kind === 'client') {
      add('result of', result(id, clock));
    }
    if (call.deadline !== undefined) add('deadline of', expire(id, clock));
  }
  for (const id of facts.lapsed) {
    actions.push({
      name: `late result of ${id}`,
      request: result(id, clock),
      isFair: false,
      then: ({ kind }) =>
        kind === 'late' ? env : `P4, an answer is consumed once: a late result of ${id} is ${kind}`,
    });
  }
  return actions;
}

interface Answer {
  name: string;
  request: Request;
  mark: string | undefined;
}

function answered(
  env: Environment,
  id: string,
  { state, isLate }: Call,
  { name, request, mark }: Answer,
): Action[] {
  const isExpected = state === 'waiting' || isLate === true;
  return withLoss(env, { name, request, isFair: true }, 'signal', (isDelivered) => (reply) => {
    if (reply.kind !== 'stored') return env;
    if (!isExpected) return `P4, an answer is consumed once: ${id} is answered twice`;
    const marked = mark === undefined ? env : { ...env, marks: [...env.marks, mark].sort() };
    return isDelivered ? wakeAll(marked, callOf(id).run, reply) : spend(marked, 'faults');
  });
}
