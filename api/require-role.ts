import type { Role } from '../protocol/actor.js';
import { HelixError } from '../protocol/errors.js';
import { holdsRole, needsRole } from '../protocol/roles.js';
import type { DualRequest } from '../stores/contract/audit.js';
import { toAct } from '../stores/record/acts.js';
import { hasSecond } from '../stores/record/audit-entry.js';
import { logEntries } from '../stores/record/listeners.js';
import { toActor } from './actor.js';
import type { RouteDeps } from './deps.js';
import type { Identity } from './identity.js';
import type { Call } from './routes/route.js';

/** @throws HelixError `not_allowed` for a caller without this role, or one that includes it */
export function requireRole({ roles }: Pick<Identity, 'roles'>, role: Role): void {
  if (!holdsRole(roles, role)) throw needsRole([role]);
}

/**
 * Lets an operator do what takes two of them once another one has sent the same request. Without accounts
 * there is one user only.
 *
 * @throws HelixError `second_person_required`; the request is noted, and counts for the other one's
 */
export async function requireSecondOperator(
  call: Pick<Call<'caller', undefined, undefined, undefined>, 'request' | 'caller'> & {
    deps: Pick<RouteDeps, 'stateStore' | 'logger'>;
  },
  { action, subject }: Pick<DualRequest, 'action' | 'subject'>,
): Promise<void> {
  const { deps, caller } = call;
  const { userId: by, tenantId: tenant, personId } = caller;
  if (caller.isEveryone === true) return;
  const { audit } = deps.stateStore;
  const asked = await audit.asked(tenant);
  const mine = asked.find(
    (each) => each.action === action && each.subject === subject && each.by === by,
  );
  const request = { action, subject, by, personId };
  const isSeconded = hasSecond(asked, request, tenant);
  if (mine === undefined) {
    if (!isSeconded) {
      const act = { ...toAct(action, toActor(call), { tenant }), outcome: 'requested' };
      const target = action === 'open' ? { pseudonym: subject } : { person: subject };
      logEntries(deps.logger, await audit.record(act, target));
    }
    await audit.ask(tenant, request);
  }
  if (isSeconded) return;
  const text = 'This takes two operators: another one has to send the same request within a day.';
  throw new HelixError('second_person_required', text, {
    detail: { action, ...(mine !== undefined && { until: mine.until }) },
  });
}
