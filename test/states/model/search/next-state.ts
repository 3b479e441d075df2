import { NO_REPLY, type Action } from '../actions/action.js';
import type { Environment } from '../environment.js';
import type { Records } from '../record/records.js';
import { reduce } from './reduce.js';

/** The state after an action, or the rule that the action breaks. */
export function nextState(
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
