import type { RouteDeps } from '../../api/extension.js';
import type { Actor } from '../../protocol/actor.js';
import type { PersonErasureReply } from '../../protocol/replies.js';
import { hasCode } from '../../protocol/errors.js';
import { logEntries, toAct } from '../../runs/extension.js';
import type { SessionOwner } from '../../store/contract/waiting.js';

const MAX = 100;
const PAGE = 50;

/**
 * Erases a person's data in extensions, the conversations, then the name in the usage sums and the key of the
 * pseudonym. The caller repeats a request that was interrupted or found too many conversations.
 */
export async function erasePerson(
  { executor, stateStore, logger }: Pick<RouteDeps, 'executor' | 'stateStore' | 'logger'>,
  who: SessionOwner,
  actor: Actor,
): Promise<PersonErasureReply> {
  const { owners, audit, usage } = stateStore;
  const erased = { sessions: 0, workflows: 0, rows: 0, entries: 0, bytes: 0 };
  // Extensions go first, so that a schedule begins no further conversation. If Temporal is away, the
  // rest is still erased.
  let complete = await executor.forget(who).then(isDone, isLeft);
  // Histories of conversations that are no longer listed may still exist in Temporal.
  const isFinished = await executor.finishErasuresOf(who);
  complete &&= isFinished;
  let found = 0;
  while (found < MAX) {
    const { conversations } = await owners.page(who, { limit: PAGE });
    if (conversations.length === 0) break;
    for (const { sessionId } of conversations) {
      found += 1;
      const receipt = await executor.deleteSession(sessionId, actor);
      if (receipt === undefined) continue;
      complete &&= receipt.complete;
      for (const what of COUNTED) erased[what] += receipt[what];
    }
  }
  const { conversations } = await owners.page(who, { limit: 1 });
  const isEmpty = conversations.length === 0;
  // A repair looks at each conversation that is left, and the next request has to do so again.
  if (isEmpty) await owners.repair(who);
  // A concurrent request may have begun a conversation of this person meanwhile.
  complete &&= isEmpty && (await owners.usage(who)).sessions === 0;
  if (complete) {
    const { owner: person, tenant } = who;
    await usage.forget(who);
    // The entry is written before the key is destroyed, since it names the person by the pseudonym.
    const act = toAct('forget', actor, {
      tenant,
      owner: person,
      detail: { conversations: found },
    });
    logEntries(logger, await audit.record(act, { person }));
    await audit.forget(tenant, person);
  }
  return { complete, conversations: found, ...erased };
}

const COUNTED = ['sessions', 'workflows', 'rows', 'entries', 'bytes'] as const;

const isDone = (): boolean => true;

function isLeft(error: unknown): boolean {
  if (hasCode(error, 'unavailable')) return false;
  throw error;
}
