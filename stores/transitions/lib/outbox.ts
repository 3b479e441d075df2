import { redis } from './host.js';
import { field, optional } from './json.js';
import { contentAt, type Content } from './request.js';
import { readRoot } from './root.js';
import type { Session } from './session.js';

/**
 * Appends an act to the outbox of the conversation, from where it gets to the tenant's audit chain.
 * It is part of the transition that does the act, so neither exists without the other. The outbox
 * outlives the session: an entry that was not relayed yet is not erased.
 *
 * @param known what only the record knows
 */
export function noteAct(
  session: Session,
  args: readonly string[],
  act: Content | undefined,
  outcome: string,
  known: { tenant?: string | undefined; runId?: string | undefined } = {},
): void {
  if (act === undefined) return;
  const { tenant, runId } = known;
  const { owner } = readRoot(session, ['owner']);
  const more =
    field('tenant', tenant === '' ? '' : optional(tenant)) +
    field('runId', optional(runId)) +
    field('owner', optional(owner));
  const entry = `${contentAt(args, act).slice(0, -1)},"outcome":"${outcome}"${more}}`;
  redis.call('RPUSH', `${session.conversation.base}audit`, entry);
}
