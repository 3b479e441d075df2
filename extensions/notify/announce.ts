import { isDeepStrictEqual } from 'node:util';
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
import { TIMED_OUT } from '../../runs/record/settle-inputs.js';
import type { CallSpec, OpenCall } from '../../store/contract/call-record.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import type { Store } from '../../store/contract/store.js';
import { asks, isQuestion } from '../../store/record/questions.js';
import { END_TYPES, PREFIX, type NotifySettings } from './settings.js';

/** At most this many calls of a step get notices of their own; the notice counts the others. */
const MAX_CALLS = 20;
/** Interval between looks while some call has not been asked yet: each look doubles it, from HELD_MS up to the most. */
const HELD_MS = 500;
const MAX_HELD_MS = 60_000;

/** A call of which receivers are to be notified now. */
interface Due {
  call: AskedCall;
  type: NoticeType;
  /** ms since the epoch. */
  at: number;
  /** Point of the schedule, which distinguishes the reminders of a call. */
  point?: string;
  outcome?: Outcome;
}

/** Reads the record and starts the deliveries that are due. Idempotent. */
export function createAnnounce({
  store,
  deliveries,
  settings,
}: {
  store: Pick<Store, 'sessions'>;
  deliveries: Pick<Deliveries, 'announce' | 'notify'>;
  settings: NotifySettings;
}): {
  /** @throws Error while no one has been asked yet, because the conversation is still active */
  wait: (look: WaitLook) => Promise<WaitOutlook>;
  /** @throws Error until the end of the run is recorded */
  end: (end: EndRef) => Promise<void>;
} {
  const { receivers, remindAfterMs } = settings;
  const hasNext = receivers.some(({ escalation }) => escalation);
  const escalateAfterMs = hasNext ? settings.escalateAfterMs : undefined;

  /** Calls whose notices would say the same share one. */
  async function notify(
    { sessionId, runId, agent }: WaitLook,
    { tenant, owner }: SessionRecord,
    due: readonly Due[],
    more: Pick<Notice, 'others'> = {},
  ): Promise<void> {
    const groups = new Map<string, [Due, ...Due[]]>();
    for (const each of due) {
      const key = JSON.stringify([each.type, each.point, each.outcome]);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [each]);
      else group.push(each);
    }
    for (const group of groups.values()) {
      const [{ call, type, point = '', outcome }] = group;
      const { toolCallId, toolName, deadline } = call;
      const ids = group.map((each) => each.call.toolCallId);
      const others = group.length - 1 + (more.others ?? 0);
      const notice: Notice = {
        id: toNoticeId(`${runId} ${ids.join(' ')} ${type} ${point}`),
        type,
        at: Math.min(...group.map(({ at }) => at)),
        sessionId,
        runId,
        agent,
        tenant,
        toolCallId,
        toolName,
        deadline,
        ...more,
        ...(outcome !== undefined && { outcome }),
        ...(others > 0 && { others }),
        ...(group.length > 1 && { calls: group.map((each) => toNoticeCall(each.call)) }),
      };
      await deliveries.announce(notice, owner);
    }
  }

  /** Notifies receivers of the outcome of calls that they were notified of and that are no longer open. */
  async function announceSettled(
    look: WaitLook,
    record: SessionRecord,
    { calls }: WaitProgress,
    own: readonly OpenCall[],
  ): Promise<void> {
    const now = Date.now();
    const due = calls.flatMap((call): Due[] => {
      const found = own.find(({ spec }) => spec.toolCallId === call.toolCallId);
      if (found !== undefined && isOpen(found)) return [];
      const outcome = outcomeOf(call, found, look.over, now);
      const stage = outcome === 'expired' ? 'expired' : 'settled';
      return [{ call, type: `${PREFIX[call.kind]}.${stage}`, at: now, outcome }];
    });
    await notify(look, record, due);
  }

  /** Starts the notices that are due. Each call has its own schedule, since some are asked later than others. */
  async function announceDue(
    look: WaitLook,
    record: SessionRecord,
    wanted: readonly AskedCall[],
  ): Promise<NonNullable<WaitOutlook>> {
    const now = Date.now();
    const due: Due[] = [];
    let againMs = LOOK_AGAIN_MS;
    const { calls, others } = followed(wanted, look.progress);
    const seen = calls.map((call) => {
      const { kind, askedAt = now, done = -1, deadline = Infinity } = call;
      const schedule = { remindAfterMs, escalateAfterMs, deadlineMs: deadline - askedAt };
      const found = lookAtSchedule(schedule, done, now - askedAt);
      for (const { stage, atMs } of found.due) {
        const point = stage === 'requested' ? '' : String(atMs);
        due.push({ call, type: `${PREFIX[kind]}.${stage}`, at: askedAt + atMs, point });
      }
      againMs = Math.min(againMs, found.againMs);
      return { ...call, askedAt, done: found.done };
    });
    await notify(look, record, due, { others });
    return { progress: { calls: seen }, againMs };
  }

  return {
    wait: async (look) => {
      const { sessionId, runId, progress } = look;
      const view = await store.sessions.withCalls(sessionId);
      // The conversation was erased.
      if (view === undefined) return undefined;
      const own = view.openCalls.filter(({ spec }) => spec.runId === runId);
      if (progress !== undefined) await announceSettled(look, view.record, progress, own);
      if (look.over !== undefined) return undefined;
      const kinds: readonly string[] = deliveries.notify?.calls ?? [];
      const wanted = own.filter((call) => isOpen(call) && kinds.includes(call.spec.kind));
      if (wanted.length === 0) return undefined;
      const asked = wanted.filter(asks);
      if (asked.length === 0 && progress === undefined) {
        throw new Error('People were not asked yet.');
      }
      const outlook = await announceDue(look, view.record, asked.map(toAskedCall));
      if (asked.length === wanted.length) return outlook;
      const heldMs = Math.min((progress?.heldMs ?? HELD_MS) * 2, MAX_HELD_MS);
      const againMs = Math.min(outlook.againMs, heldMs);
      return { progress: { ...outlook.progress, heldMs }, againMs };
    },
    end: async ({ sessionId, runId, agent, status, code }) => {
      const record = await store.sessions.read(sessionId);
      // The conversation was erased.
      if (record === undefined) return;
      // Another run may be the newest by now.
      const isNewest = record.runId === runId;
      // A run that was reported lost may have ended in another way; the record knows.
      const how = isNewest ? record.status : status;
      if (!isTerminal(how)) throw new Error('The run has not ended.');
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
  const known = new Map(progress?.calls.map((call) => [call.toolCallId, call]));
  const isKnown = ({ toolCallId }: AskedCall): boolean => known.has(toolCallId);
  const all = [...wanted.filter(isKnown), ...wanted.filter((call) => !isKnown(call))];
  const calls = all.slice(0, MAX_CALLS).map((call) => {
    const { askedAt, done } = known.get(call.toolCallId) ?? {};
    return { ...call, askedAt, done };
  });
  return { calls, others: all.length - calls.length };
}

function toNoticeCall({ toolCallId, toolName, deadline }: AskedCall): NoticeCall {
  return { toolCallId, toolName, ...(deadline !== undefined && { deadline }) };
}

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

/** Times at which receivers are notified of a question, ms after it was asked. */
interface Schedule {
  remindAfterMs: readonly number[];
  /** Absent if no receiver takes escalations. */
  escalateAfterMs?: number | undefined;
  deadlineMs?: number;
}

interface Point {
  stage: 'requested' | 'reminder' | 'escalated';
  atMs: number;
}

/** Time between the last reminder and the deadline. */
const BEFORE_DEADLINE_MS = 15 * 60_000;
/** Longest interval between looks at a waiting run that sends no signal. */
const LOOK_AGAIN_MS = 24 * 60 * 60_000;
/** Delay after a deadline, so that the run's own timer settles the call first. */
const AFTER_DEADLINE_MS = 5_000;

/**
 * Returns the notices that are due and the time of the next look. Of missed reminders only the newest is due.
 *
 * @param done newest point reached so far; -1 before the first
 * @param nowMs time since the question, ms
 */
export function lookAtSchedule(
  { remindAfterMs, escalateAfterMs, deadlineMs = Infinity }: Schedule,
  done: number,
  nowMs: number,
): { due: Point[]; done: number; againMs: number } {
  const reminders = [...remindAfterMs, deadlineMs - BEFORE_DEADLINE_MS];
  const later: Point[] = [
    ...reminders.map((atMs) => ({ stage: 'reminder' as const, atMs })),
    ...(escalateAfterMs === undefined
      ? []
      : [{ stage: 'escalated' as const, atMs: escalateAfterMs }]),
  ];
  const points: Point[] = [
    { stage: 'requested' as const, atMs: 0 },
    ...later.filter(({ atMs }) => atMs < deadlineMs),
  ].sort((a, b) => a.atMs - b.atMs);
  const reached = points.filter(({ atMs }) => atMs > done && atMs <= nowMs);
  const newest = new Map(reached.map((point) => [point.stage, point]));
  const due = reached.filter(
    // Before the first notice no reminder is due: the notice itself reminds.
    (point) => newest.get(point.stage) === point && (done >= 0 || point.stage !== 'reminder'),
  );
  const looks = [...points.map(({ atMs }) => atMs), deadlineMs + AFTER_DEADLINE_MS];
  const againMs = Math.min(...looks.filter((at) => at > nowMs)) - nowMs;
  return {
    due,
    done: reached.at(-1)?.atMs ?? done,
    againMs: Math.min(Math.max(againMs, 1_000), LOOK_AGAIN_MS),
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
  if (over?.approved?.includes(toolCallId) === true) return 'approved';
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
