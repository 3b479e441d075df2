import { rootOf } from '../protocol/ids.js';
import { isTerminal } from '../protocol/run.js';
import { sleep } from '../protocol/time.js';
import type { Attempt } from './attempt.js';
import type { ActivityDeps } from './deps.js';

/** Pause before a failed subscription is retried. */
const LISTEN_AGAIN_MS = 1_000;

/**
 * Cuts an attempt when its run, or the root run that it works for, is stopped. The subscription
 * starts in parallel with the claim: the claim finds earlier stops, and a read of the record finds
 * stops between the two. A message may arrive late, since a worker or its connection can stall, so
 * a message about an earlier run of the conversation cuts nothing.
 *
 * @returns a function that ends the subscription
 */
export function cutOnStop(
  deps: Pick<ActivityDeps, 'store' | 'streamManager' | 'lease' | 'logger'>,
  { sessionId, runId }: { sessionId: string; runId: string },
  attempt: Pick<Attempt, 'cut'>,
): () => void {
  const { store, streamManager, lease, logger } = deps;
  const conversation = rootOf(sessionId);
  let isOver = false;
  let leave: (() => void) | undefined;

  /** A sub-agent works for the newest run of its root conversation. */
  async function isOurs(stopped: string): Promise<boolean> {
    if (sessionId === conversation) return stopped === runId;
    return (await store.sessions.read(conversation))?.runId === stopped;
  }

  /** A failed lookup is harmless: the attempt's next write is answered with the stop. */
  function warn(error: unknown): void {
    logger.warn({ err: error, runId }, 'a stop could not be looked up');
  }

  function onStop(stopped: string): void {
    isOurs(stopped).then((ours) => {
      if (ours) attempt.cut('stop');
    }, warn);
  }

  /** Returns undefined if the attempt ends first. */
  async function subscribe(): Promise<(() => void) | undefined> {
    while (!isOver) {
      try {
        return await streamManager.onStop(sessionId, onStop);
      } catch (error) {
        warn(error);
        await sleep(LISTEN_AGAIN_MS);
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
    if (isOver) leave?.();
    // A channel that an earlier step subscribed to has missed nothing.
    else if (isLater) await lookUp();
  }

  async function lookUp(): Promise<void> {
    const record = await store.sessions.read(sessionId);
    if (record?.runId !== runId) return;
    if (record.stop !== undefined || isTerminal(record.status)) attempt.cut('stop');
  }

  listen().catch(warn);
  // Published messages may be lost; each renewal of the lease reads the mailbox.
  const endMail = lease?.onStop(conversation, onStop);
  return () => {
    isOver = true;
    endMail?.();
    leave?.();
  };
}
