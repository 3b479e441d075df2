import type { Environment } from '../environment.js';
import type { Facts } from '../record/facts.js';
import type { Reply } from '../record/play.js';
import type { Request } from '../requests/request.js';

/** Something that may happen next. */
export interface Action {
  name: string;
  /** What is sent to the record, if anything is. */
  request?: Request | undefined;
  /** It happens sooner or later, whatever else does: workers work, people answer, the sweep runs. */
  isFair: boolean;
  /** The environment after it, or the rule that the reply breaks. */
  then: (reply: Reply, before: Facts) => Environment | string;
}

/** For actions that send nothing. */
export const NO_REPLY: Reply = { kind: 'nothing sent' };

/**
 * The same request twice: once with all that follows from it, and, while faults are left, once with the
 * signal or the start lost that follows from it.
 */
export function withLoss(
  { left }: Environment,
  { name, request, isFair }: Pick<Action, 'name' | 'request' | 'isFair'>,
  lost: string,
  then: (isDelivered: boolean) => Action['then'],
): Action[] {
  const actions: Action[] = [{ name, request, isFair, then: then(true) }];
  if (left.faults > 0) {
    actions.push({ name: `${name}, ${lost} lost`, request, isFair: false, then: then(false) });
  }
  return actions;
}
