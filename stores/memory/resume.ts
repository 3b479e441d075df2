import type { Resumption } from '../../protocol/run.js';
import type { Wake } from '../contract/call-record.js';
import { toJson } from './json.js';
import { writeOwn } from './own-chunks.js';
import { conversationSpeaker } from './pause.js';
import type { MemorySession } from './session.js';
import { isConversation, sessionsBelow } from './tree.js';

/** What the session that was answered may go on with, and what others may. */
export interface Released {
  resume?: Resumption;
  others?: Wake[];
}

/**
 * The last answer that anybody in the conversation waits for lets all go on: each session that was
 * answered, its approved calls.
 */
export function resumeIfAnswered(asked: MemorySession, now: number): Released {
  const { root } = asked;
  const all = [root, ...sessionsBelow(root)];
  const isOpen = all.some(({ calls }) => [...calls.values()].some((c) => c.state === 'waiting'));
  if (isOpen) return {};
  makeActive(root, now);
  const released: Released = {};
  const others: Wake[] = [];
  for (const session of all) {
    const resume = release(session, asked);
    if (resume === undefined || session.run === undefined) continue;
    if (session === asked) released.resume = resume;
    else others.push({ sessionId: session.id, runId: session.run.runId, resume });
  }
  return { ...released, ...(others.length > 0 && { others }) };
}

/** Lets one session go on; undefined if it was not asked anything, and only its sub-agents were. */
function release(session: MemorySession, asked: MemorySession): Resumption | undefined {
  const { run, calls, busy, root } = session;
  if (run === undefined) return undefined;
  run.status = 'running';
  const approved: string[] = [];
  let isTold = session === asked;
  for (const [id, call] of calls) {
    if (call.state === 'open') busy.add(id);
    if (call.state === 'approved') approved.push(id);
    if (call.askedAt === undefined || call.isTold) continue;
    call.isTold = true;
    isTold = true;
  }
  if (!isTold) return undefined;
  for (const id of approved) busy.add(id);
  const resume = { step: run.committedStep, approved };
  run.resume = toJson(resume);
  if (!isConversation(session)) {
    root.wakes.set(session.id, toJson({ sessionId: session.id, runId: run.runId, resume }));
  }
  return resume;
}

/** The stream goes on, if it had paused; while siblings still run it has not. */
function makeActive(root: MemorySession, now: number): void {
  const { run } = root;
  if (run === undefined) return;
  if (root.stream === 'paused') {
    writeOwn(root, conversationSpeaker(root, run, now), 'run_resumed', {
      runId: run.runId,
      fromCheckpointId: root.checkpointId ?? null,
      fromStepCount: run.committedStep,
      mode: 'continue',
    });
  }
  run.status = 'running';
  root.stream = 'active';
}

/** A session whose calls are all settled goes on although others of the conversation wait. */
export function goOnAlone(session: MemorySession, now: number): void {
  makeActive(session.root, now);
  for (let at: MemorySession | undefined = session; at !== undefined; at = at.parent?.session) {
    if (at.run !== undefined) at.run.status = 'running';
    at.parent?.session.busy.add(at.parent.toolCallId);
  }
}
