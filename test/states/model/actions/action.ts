import type { Environment } from '../environment.js';
import type { Facts } from '../record/facts.js';
import type { Reply } from '../record/play.js';
import type { Request } from '../requests/request.js';

export interface Action {
  name: string;
  request?: Request | undefined;
  /** True if it happens eventually in any case: workers work, people answer, the sweep runs. */
  isFair: boolean;
  /** Returns the following environment, or the rule that the reply breaks. */
  then: (reply: Reply, before: Facts) => Environment | string;
}

export const NO_REPLY: Reply = { kind: 'nothing sent' };

/**
 * Returns the request, and once more with its signal or start lost while the fault budget lasts.
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
