import { isDeepStrictEqual } from 'node:util';
import { rootOf } from '../../protocol/ids.js';
import type {
  AskedCall,
  EndRef,
  Notice,
  NoticeCall,
  NoticeType,
  WaitLook,
  WaitOutlook,
  WaitOver,
  WaitProgress,
} from '../../protocol/notices.js';
import type { Decision, ToolRow } from '../../protocol/rows.js';
import { isTerminal } from '../../protocol/run.js';
import { toNoticeId, type Deliveries } from '../../runs/deliveries.js';
import type { CallSpec, OpenCall } from '../../store/contract/call-record.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import type { Store } from '../../store/contract/store.js';
import { asks, isQuestion } from '../../store/record/questions.js';
import { TIMED_OUT } from '../../runs/record/settle-inputs.js';
import { LOOK_AGAIN_MS, lookAtSchedule } from './schedule.js';
import type { NotifySettings } from './settings.js';

/** At most this many calls of a step get notices of their own; the notice counts the others. */
const MOST_CALLS = 20;
/** Interval between looks while some call has not been asked yet: each look doubles it, from HELD_MS up to the most. */
const HELD_MS = 500;
const MOST_HELD_MS = 60_000;

export interface AnnounceDeps {
  store: Pick<Store, 'sessions'>;
  deliveries: Pick<Deliveries, 'announce' | 'notify'>;
  settings: NotifySettings;
}

/** Thrown while people have not been asked yet because the conversation is still active. The activity is retried. */
export class NotAsked extends Error {
  override readonly name = 'NotAsked';
}

/** Thrown if a run's end was announced before it was recorded. The activity is retried. */
export class NotEnded extends Error {
  override readonly name = 'NotEnded';
}

/** Reads the record and starts the deliveries that are due. Idempotent. */
export function createAnnounce({ store, deliveries, settings }: AnnounceDeps): {
  wait: (look: WaitLook) => Promise<WaitOutlook>;
  end: (end: EndRef) => Promise<void>;
} {
  const { receivers, remindAfterMs } = settings;
  const hasNext = receivers.some(({ escalation }) => escalation);
  const escalateAfterMs = hasNext ? settings.escalateAfterMs : undefined;

  async function notify(
    look: WaitLook,
    { tenant, owner }: Pick<SessionRecord, 'tenant' | 'owner'>,
    calls: readonly AskedCall[],
    stage: { type: NoticeType; at: number; point: string },
    more: Pick<Notice, 'others' | 'outcome'> = {},
  ): Promise<void> {
    const { sessionId, runId, agent } = look;
    const [first] = calls;
    if (first === undefined) return;
    const { toolCallId, toolName, deadline } = first;
    const { type, at, point } = stage;
    const others = calls.length - 1 + (more.others ?? 0);
    const notice: Notice = {
      id: toNoticeId(`${runId} ${calls.map((call) => call.toolCallId).join(' ')} ${type} ${point}`),
      type,
      at,
      sessionId,
      runId,
      agent,
      tenant,
      toolCallId,
      toolName,
      deadline,
      ...more,
      ...(others > 0 && { others }),
      ...(calls.length > 1 && { calls: calls.map(toNoticeCall) }),
    };
    await deliveries.announce(notice, owner);
  }

  /** Notifies receivers of the outcome of calls that they were notified of and that are no longer open. */
  async function settled(
    look: WaitLook,
    record: SessionRecord,
    { calls }: WaitProgress,
    openCalls: readonly OpenCall[],
  ): Promise<void> {
    const now = Date.now();
    const still = new Set(openCalls.filter(isOpen).map(({ spec }) => spec.toolCallId));
    const together = createGroups<{ type: NoticeType; outcome: Outcome }>();
    for (const call of calls.filter(({ toolCallId }) => !still.has(toolCallId))) {
      const found = openCalls.find(({ spec }) => spec.toolCallId === call.toolCallId);
      const outcome = outcomeOf(call, found, look.over, now);
      const type = `${PREFIX[call.kind]}.${outcome === 'expired' ? 'expired' : 'settled'}` as const;
      together.add({ type, outcome }, call);
    }
    for (const [{ type, outcome }, those] of together.all()) {
      await notify(look, record, those, { type, at: now, point: '' }, { outcome });
    }
  }

  /** Starts the notices that are due. Each call has its own schedule, since some are asked later than others. */
  async function announceDue(
    look: WaitLook,
    record: SessionRecord,
    wanted: readonly AskedCall[],
  ): Promise<NonNullable<WaitOutlook>> {
    const { calls, others } = followed(wanted, look.progress);
    const now = Date.now();
    const after: Required<Pick<AskedCall, 'askedAt' | 'done'>>[] = [];
    const together = createGroups<{ type: NoticeType; point: string }>();
    const due = new Map<NoticeType, number>();
    let againMs = LOOK_AGAIN_MS;
    for (const call of calls) {
      const { askedAt = now, done = -1, deadline } = call;
      const deadlineMs = deadline === undefined ? undefined : deadline - askedAt;
      const schedule = { remindAfterMs, escalateAfterMs, deadlineMs };
      const found = lookAtSchedule(schedule, done, now - askedAt);
      for (const { stage, atMs } of found.due) {
        const type = `${PREFIX[call.kind]}.${stage}` as const;
        together.add({ type, point: stage === 'requested' ? '' : String(atMs) }, call);
        due.set(type, Math.min(due.get(type) ?? Infinity, askedAt + atMs));
      }
      after.push({ askedAt, done: found.done });
      againMs = Math.min(againMs, found.againMs);
    }
    for (const [{ type, point }, those] of together.all()) {
      await notify(look, record, those, { type, at: due.get(type) ?? now, point }, { others });
    }
    return { progress: { calls: calls.map((call, at) => ({ ...call, ...after[at] })) }, againMs };
  }

  return {
    wait: async (look) => {
      const { sessionId, runId, progress } = look;
      const view = await store.sessions.withCalls(sessionId);
      // The conversation was erased.
      if (view === undefined) return undefined;
      const own = view.openCalls.filter(({ spec }) => spec.runId === runId);
      const open = own.filter(isOpen);
      if (progress !== undefined) await settled(look, view.record, progress, own);
      if (open.length === 0 || look.over !== undefined) return undefined;
      const kinds = deliveries.notify?.calls ?? [];
      const wanted = open.filter((call) => kinds.includes(toAskedCall(call).kind));
      if (wanted.length === 0) return undefined;
      const asked = wanted.filter(asks);
      const isHeld = asked.length < wanted.length;
      if (asked.length === 0 && progress === undefined) {
        throw new NotAsked('People were not asked yet.');
      }
      const outlook = await announceDue(look, view.record, asked.map(toAskedCall));
      if (!isHeld) return outlook;
      const heldMs = Math.min((progress?.heldMs ?? HELD_MS) * 2, MOST_HELD_MS);
      const againMs = Math.min(outlook.againMs, heldMs);
      return { progress: { ...outlook.progress, heldMs }, againMs };
    },
    end: async ({ sessionId, runId, agent, status, code }) => {
      const record = await store.sessions.read(rootOf(sessionId));
      // The conversation was erased.
      if (record === undefined) return;
      // Another run may be the newest by now.
      const isNewest = record.runId === runId;
      // A run that was reported lost may have ended in another way; the record knows.
      const how = isNewest ? record.status : status;
      if (!isTerminal(how)) throw new NotEnded('The run has not ended.');
      const known = isNewest ? record.error?.code : undefined;
      const reason = how === status ? (code ?? known) : known;
      const type = END_TYPES[how];
      const { tenant, owner } = record;
      const id = toNoticeId(`${runId} ${type}`);
      const notice = { id, type, at: Date.now(), sessionId, runId, agent, tenant, code: reason };
      await deliveries.announce(notice, owner);
    },
  };
}

/** Picks the calls that get notices: those that receivers already know, with their progress, then new ones. */
function followed(
  wanted: readonly AskedCall[],
  progress: WaitProgress | undefined,
): { calls: AskedCall[]; others: number } {
  const known = wanted.flatMap((call) => {
    const before = progress?.calls.find(({ toolCallId }) => toolCallId === call.toolCallId);
    if (before === undefined) return [];
    const { askedAt, done } = before;
    return [{ ...call, askedAt, done }];
  });
  const ids = new Set(known.map(({ toolCallId }) => toolCallId));
  const all = [...known, ...wanted.filter(({ toolCallId }) => !ids.has(toolCallId))];
  const calls = all.slice(0, MOST_CALLS);
  return { calls, others: all.length - calls.length };
}

/** Groups calls whose notices would say the same, so that they share one. */
function createGroups<Key extends object>() {
  const groups = new Map<string, [key: Key, calls: AskedCall[]]>();
  return {
    add: (key: Key, call: AskedCall): void => {
      const name = JSON.stringify(key);
      const group = groups.get(name) ?? [key, []];
      groups.set(name, group);
      group[1].push(call);
    },
    all: () => groups.values(),
  };
}

function toNoticeCall({ toolCallId, toolName, deadline }: AskedCall): NoticeCall {
  return { toolCallId, toolName, ...(deadline !== undefined && { deadline }) };
}

const PREFIX = { approval: 'approval', client: 'tool' } as const;

const END_TYPES = {
  completed: 'run.completed',
  failed: 'run.failed',
  interrupted: 'run.stopped',
  aborted: 'run.stopped',
} as const;

/** Returns true for an unanswered question, whether it has been asked yet or not. */
function isOpen({ spec, row, decision }: OpenCall): boolean {
  return isQuestion(spec) && row === undefined && decision === undefined;
}

function toAskedCall({ spec, deadline }: OpenCall): AskedCall {
  const { toolCallId, toolName, kind } = spec;
  return {
    toolCallId,
    toolName,
    kind: kind === 'client' ? 'client' : 'approval',
    ...(deadline !== undefined && { deadline }),
  };
}

type Outcome = 'approved' | 'denied' | 'answered' | 'expired' | 'closed';

/** Tolerated difference between this process's clock and the store's, by which deadlines run. */
const CLOCKS_MS = 500;

/**
 * Returns how a question was settled: from the record while it still has the call, else from what the
 * run knew at the end of its wait, else from the clock. Pure.
 */
export function outcomeOf(
  { toolCallId, kind, deadline = Infinity }: AskedCall,
  found: Pick<OpenCall, 'spec' | 'decision' | 'row'> | undefined,
  over: WaitOver | undefined,
  now: number,
): Outcome {
  if (found?.decision !== undefined) return ofDecision(found.decision);
  const isOverdue = (over?.at ?? now) >= deadline - CLOCKS_MS;
  if (found?.row?.role === 'tool') return ofRow(found.row, isOverdue ? found.spec : undefined);
  if (over?.approved?.includes(toolCallId) === true && kind === 'approval') return 'approved';
  if (over?.stopped === true) return 'closed';
  if (isOverdue) return 'expired';
  if (over?.approved === undefined) return 'closed';
  return kind === 'approval' ? 'denied' : 'answered';
}

function ofDecision({ approved, automatic }: Decision): Outcome {
  if (automatic === true) return 'expired';
  return approved ? 'approved' : 'denied';
}

/** @param overdue the question, if its deadline has passed */
function ofRow(
  { errorCode, output, decision }: ToolRow,
  overdue: Pick<CallSpec, 'onExpiry'> | undefined,
): Outcome {
  if (decision !== undefined) return ofDecision(decision);
  if (errorCode === TIMED_OUT.errorCode) return 'expired';
  if (errorCode !== undefined && CLOSED.has(errorCode)) return 'closed';
  // The default result of an expired call. A person's identical answer cannot be told from it.
  const own = overdue?.onExpiry;
  const isOwn = typeof own === 'object' && isDeepStrictEqual(own.result ?? null, output);
  return isOwn ? 'expired' : 'answered';
}

/** Codes of calls that ended with their run or turn. */
const CLOSED: ReadonlySet<string> = new Set([
  'run_stopped',
  'run_failed',
  'client_tool_abandoned',
  'tool_outcome_unknown',
]);
