import type { QueuedEntry } from '../contract/queue.js';
import type { UserMessage } from '../contract/runs.js';
import { fromJson, toJson } from './json.js';
import { writeOwn, type Speaker } from './own-chunks.js';
import type { MemoryRun, MemorySession } from './session.js';

/** Tells followers how many entries wait. */
export function tellOfQueue(session: MemorySession, who: Speaker, removed?: string[]): void {
  writeOwn(session, who, 'queue_changed', {
    queued: session.queue.length,
    ...(removed !== undefined && { removed }),
  });
}

/** Puts messages among those that wait: steering ones before queued ones, interrupting ones first. */
export function pushQueued(session: MemorySession, who: Speaker, entry: QueuedEntry): void {
  session.queue.splice(placeOf(session, entry), 0, toJson(entry));
  tellOfQueue(session, who);
}

function placeOf({ queue }: MemorySession, { mode }: QueuedEntry): number {
  if (mode === 'interrupt') return 0;
  const behind = mode === 'queue' ? -1 : queue.findIndex((json) => fromJson(json).mode !== 'steer');
  return behind < 0 ? queue.length : behind;
}

/** The messages that have waited longest; they wait no more. */
export function popQueued(session: MemorySession): UserMessage[] {
  const head = session.queue.shift();
  return head === undefined ? [] : fromJson(head).messages;
}

export function steeringWaits({ queue: [head] }: MemorySession): boolean {
  return head !== undefined && fromJson(head).mode === 'steer';
}

/** Steering that came too late waits for a turn of its own. */
export function releaseSteering(session: MemorySession): void {
  session.queue = session.queue.map((json) => {
    const entry = fromJson(json);
    return entry.mode === 'steer' ? toJson({ ...entry, mode: 'queue' }) : json;
  });
}

/**
 * Takes steering messages into the transcript: the run's reply so far is closed, what follows is a
 * turn of its own. A reply that has not begun is left to begin.
 */
export function takeSteering(session: MemorySession, run: MemoryRun, who: Speaker): void {
  if (!run.hasReplied || !steeringWaits(session)) return;
  const messages: UserMessage[] = [];
  while (steeringWaits(session)) messages.push(...popQueued(session));
  run.startRow = session.rows.length;
  storeMessages(session, messages);
  run.turn += 1;
  run.messageId = `msg-${String(session.visibleMessages)}`;
  run.startSequence = session.log.sequence;
  run.hasReplied = false;
  writeOwn(session, who, 'turn_started', {
    runId: run.runId,
    messageId: run.messageId,
    messageIds: messages.map(({ id }) => id),
    reason: 'steer',
  });
}

/** Takes user messages into the transcript. */
export function storeMessages(session: MemorySession, messages: readonly UserMessage[]): void {
  for (const { row, hidden } of messages) {
    session.rows.push(toJson(row));
    if (!hidden) session.visibleMessages += 1;
  }
}

/** What the end of a run reports if messages wait for their turn. */
export function nextOf({ queue }: MemorySession): { next?: true } {
  return queue.length > 0 ? { next: true } : {};
}
