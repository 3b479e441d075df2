import type { RouteDeps } from '../../api/extension.js';
import type { Actor } from '../../protocol/actor.js';
import type { PersonErasureReply } from '../../protocol/erasure.js';
import { HelixError } from '../../protocol/errors.js';
import { logEntries, toAct } from '../../runs/extension.js';
import type { SessionOwner } from '../../store/contract/waiting.js';

/** Conversations that one request erases at most. */
const MOST = 100;
const PAGE = 50;

/**
 * Erases what extensions keep of a person, the conversations, then the name in the sums of usage and the key of the
 * pseudonym. A request that was interrupted, or that found more than it erases at once, is repeated.
 */
export async function erasePerson(
  { executor, stateStore, logger }: Pick<RouteDeps, 'executor' | 'stateStore' | 'logger'>,
  who: SessionOwner,
  actor: Actor,
): Promise<PersonErasureReply> {
  const { owners, audit, usage } = stateStore;
  const erased = { sessions: 0, workflows: 0, rows: 0, entries: 0, bytes: 0 };
  // First, so that none of them begins another conversation. While Temporal is away the rest is erased.
  let complete = (await executor.forget?.(who).then(isDone, isLeft)) ?? true;
  // Their conversations are listed no more, and their histories may be with Temporal still.
  const isFinished = await executor.finishErasuresOf?.(who);
  complete &&= isFinished ?? true;
  let found = 0;
  while (found < MOST) {
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
  complete &&= conversations.length === 0;
  await owners.repair(who);
  // What a request has begun meanwhile counts in the name of the person.
  complete &&= (await owners.usage(who)).sessions === 0;
  if (complete) {
    const { owner: person, tenant } = who;
    await usage.forget(who);
    // The entry comes before the key is destroyed: it names the person by the last pseudonym.
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
  if (HelixError.isInstance(error) && error.code === 'unavailable') return false;
  throw error;
}
