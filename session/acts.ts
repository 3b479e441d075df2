import type { Session } from './tree.js';

/**
 * Adds an act to the conversation's outbox, from which a relay moves it to the audit trail. The act and its change are
 * stored together or not at all.
 *
 * @param act as JSON
 */
export function noteAct(
  session: Session,
  act: string | undefined,
  known: { outcome: string; tenant?: string; runId?: string },
): void {
  if (act === undefined) return;
  const { outcome, tenant, runId } = known;
  const { owner = '' } = session.record ?? {};
  const more = JSON.stringify({
    outcome,
    ...(tenant && { tenant }),
    runId,
    ...(owner !== '' && { owner }),
  });
  session.tree.emit({ kind: 'act_noted' });
  session.tree.write('push', 'outbox', '', `${act.slice(0, -1)},${more.slice(1)}`);
}
