import { rootOf } from '../../protocol/ids.js';
import { isTerminal, type RunStatus } from '../../protocol/run.js';
import { isResting, type RunPart } from '../../runs/extension.js';
import type { RunUsage } from '../../store/contract/runs.js';
import type { SessionRecord, Sessions } from '../../store/contract/sessions.js';

/** A run's part in a leg, with fields that only the executing process knows. */
export interface Leg extends RunPart {
  /** Part of the parent run in this leg. */
  above?: Leg | undefined;
  /** `traceparent` of the request that began the leg, if it is known. */
  request?: string | undefined;
  /** Model of the last call, if this process made it. */
  model?: string;
}

export interface RunOfSession {
  sessionId: string;
  runId: string;
  parent?: { sessionId: string; runId: string; toolCallId: string } | undefined;
}

/** The records of a run and of its conversation, if they still exist. */
export interface LegRecords {
  own: SessionRecord | undefined;
  root: SessionRecord | undefined;
}

export async function readLegRecords(
  sessions: Pick<Sessions, 'read'>,
  { sessionId, runId }: RunOfSession,
): Promise<LegRecords> {
  const rootId = rootOf(sessionId);
  const [found, root] = await Promise.all([
    rootId === sessionId ? undefined : sessions.read(sessionId),
    sessions.read(rootId),
  ]);
  const own = rootId === sessionId ? root : found;
  return { own: own?.runId === runId ? own : undefined, root };
}

/** Number of the conversation's leg. */
export function legNumberOf({ leg }: SessionRecord): number {
  return leg?.number ?? 1;
}

/**
 * Returns the current leg of a run; undefined if the run is not the newest one of its session. The
 * session of a sub-agent that is about to begin does not exist yet.
 *
 * @param now ms since the epoch
 */
export function toLeg(
  { sessionId, runId, parent }: RunOfSession,
  agent: string,
  { own, root }: LegRecords,
  now: number,
): Leg | undefined {
  if (root === undefined) return undefined;
  if (own === undefined && parent === undefined) return undefined;
  const began = own?.leg?.at ?? own?.runStartedAt ?? now;
  return {
    ...{ sessionId, runId, agent: own?.agent ?? agent },
    turn: root.turn,
    rootRunId: root.runId,
    number: legNumberOf(root),
    // A sub-agent begins within a leg.
    beganAt: Math.max(began, root.leg?.at ?? 0),
    usedBefore: own?.leg?.used,
    used: own?.usage,
    parent: own?.parent ?? parent,
  };
}

/** Returns true for a run that has ended or waits for people, so that it has left its leg. */
export function isLeft(status: RunStatus): boolean {
  return isResting(status) || isTerminal(status);
}

/** Returns the usage since `before`; fields that are 0 are absent. */
export function usageSince(
  used: RunUsage | undefined,
  before: RunUsage | undefined,
): RunUsage | undefined {
  if (used === undefined || before === undefined) return used;
  const left: RunUsage = { inputTokens: 0, outputTokens: 0 };
  for (const [name, value] of Object.entries(used) as [keyof RunUsage, number][]) {
    const more = Math.max(0, value - (before[name] ?? 0));
    if (more > 0) left[name] = more;
  }
  return left;
}
