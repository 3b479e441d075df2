import { rootOf } from '../protocol/ids.js';
import { isTerminal } from '../protocol/run.js';
import { sleep } from '../protocol/time.js';
import type { Attempt } from './attempt.js';
import type { ActivityDeps } from './deps.js';

/** A subscription that fails is tried again after this long. */
const LISTEN_AGAIN_MS = 1_000;

/**
 * Cuts an attempt when its run is stopped, or the conversation's run that it works for. It begins to
 * listen beside the attempt's claim: a claim finds the stops before it, and what came between the
 * two is looked up in the record. A message may be late, since a worker or its connection can stand
 * still: one about an earlier run of the conversation cuts nothing.
 *
 * @returns ends it
 */
export function cutOnStop(
  {
    store,
    streamManager,
    lease,
    logger,
  }: Pick<ActivityDeps, 'store' | 'streamManager' | 'lease' | 'logger'>,
  { sessionId, runId }: { sessionId: string; runId: string },
  attempt: Pick<Attempt, 'cut'>,
): () => void {
  const conversation = rootOf(sessionId);
  const life = new AbortController();
  let leave: (() => void) | undefined;

  /** A sub-agent works for the conversation's newest run. */
  async function isOurs(stopped: string): Promise<boolean> {
    if (sessionId === conversation) return stopped === runId;
    return (await store.sessions.read(conversation))?.runId === stopped;
  }

  /** What the attempt writes next is answered with the stop. */
  function warn(error: unknown): void {
    logger.warn({ err: error, runId }, 'a stop could not be looked up');
  }

  function onStop(stopped: string): void {
    isOurs(stopped).then((ours) => {
      if (ours) attempt.cut('stop');
    }, warn);
  }

  /** Undefined if the attempt is over before it succeeds. */
  async function subscribe(): Promise<(() => void) | undefined> {
    while (!life.signal.aborted) {
      try {
        return await streamManager.onStop(sessionId, onStop);
      } catch (error) {
        warn(error);
        await sleep(LISTEN_AGAIN_MS, life.signal);
      }
    }
    return undefined;
  }

  async function listen(): Promise<void> {
    let isLater = false as boolean;
    setImmediate(() => {
      isLater = true;
    });
    leave = await subscribe();
    if (life.signal.aborted) leave?.();
    // A channel that was subscribed before, by an earlier step, has missed nothing.
    else if (isLater) await lookUp();
  }

  async function lookUp(): Promise<void> {
    const record = await store.sessions.read(sessionId);
    if (record?.runId !== runId) return;
    if (record.stop !== undefined || isTerminal(record.status)) attempt.cut('stop');
  }

  listen().catch(warn);
  // A published message may be lost; the mailbox is read with each renewal of the lease.
  const endMail = lease?.onStop(conversation, onStop);
  return () => {
    life.abort();
    endMail?.();
    leave?.();
  };
}
