import { rootOf } from '../../protocol/ids.js';
import { isTerminal, type RunStatus } from '../../protocol/run.js';
import { isResting } from '../../session/record.js';
import type { RunUsage } from '../../store/contract/runs.js';
import type { SessionRecord, Sessions } from '../../store/contract/sessions.js';

/**
 * What one run has to do in a leg of its conversation, which is from begin or resume to the next
 * pause or end. A sub-agent's run takes part in the legs of the conversation's own run.
 */
export interface Leg {
  sessionId: string;
  runId: string;
  agent: string;
  turn: number;
  /** The conversation's own run. */
  rootRunId: string;
  /** From 1 in each run of the conversation. */
  number: number;
  /** When this run began to take part, ms since the epoch. */
  beganAt: number;
  /** What the run had used before. */
  usedBefore: RunUsage | undefined;
  /** What it had used when it was read. */
  used: RunUsage | undefined;
  /** True if it was left when it was read: the process that ended it has written its span. */
  wasLeft: boolean;
  /** The call that a sub-agent's run answers. */
  parent?: { sessionId: string; runId: string; toolCallId: string } | undefined;
  /** The part that the run above it has in this leg. */
  above?: Leg | undefined;
  /** `traceparent` of the request that began the leg, if it is known. */
  request?: string | undefined;
  /** The model that was asked last, if this process has asked it. */
  model?: string;
}

export interface RunOfSession {
  sessionId: string;
  runId: string;
  parent?: { sessionId: string; runId: string; toolCallId: string } | undefined;
}

/** A run's record and that of its conversation, as far as it is still there. */
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
 * The leg in which a run is now; undefined if the run is not the newest one of its session. The
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
    wasLeft: own !== undefined && isLeft(own.status),
    parent: own?.parent ?? parent,
  };
}

/** True for a run that has ended, or that only people can continue: it takes no part in a leg. */
export function isLeft(status: RunStatus): boolean {
  return isResting(status) || isTerminal(status);
}

/** What was used since; fields that are 0 are absent. */
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
