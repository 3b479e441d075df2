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
import { TIMED_OUT } from '../../store/record/settle-inputs.js';
import { LOOK_AGAIN_MS, lookAtSchedule } from './schedule.js';
import type { NotifySettings } from './settings.js';

/** Calls of one step that have notices of their own. */
const MOST_CALLS = 20;
/** While one of them is not asked yet, the record is looked at less and less often. */
const HELD_MS = 500;
const MOST_HELD_MS = 60_000;

export interface AnnounceDeps {
  store: Pick<Store, 'sessions'>;
  deliveries: Pick<Deliveries, 'announce' | 'notify'>;
  settings: NotifySettings;
}

/** People have not been asked yet: the conversation is still active. It is looked at again. */
export class NotAsked extends Error {
  override readonly name = 'NotAsked';
}

/** The end of a run was announced before it was recorded. It is looked at again. */
export class NotEnded extends Error {
  override readonly name = 'NotEnded';
}

/** Looks at the record and begins the deliveries that are due. May be repeated at any point. */
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

  /** Of calls that receivers were notified of, and that are not open any more. */
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

  /** Each call by its own clock: some are asked later than others. */
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
      // It was erased.
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
      // It was erased.
      if (record === undefined) return;
      // By then another run may be the newest.
      const isNewest = record.runId === runId;
      // A run that was taken for lost may have ended before this.
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

/** Those that receivers know of first, each as it was left; others have no notices of their own. */
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

/** Calls of one step with the same to say are one notice. */
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

/** True for a question that has no answer, also before it is asked. */
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

/** A deadline is one of the store's clock. */
const CLOCKS_MS = 500;

/**
 * How a question was settled: by the record, while it still has the call; else by what the run knew
 * when its wait was over, and by the clock last. Pure.
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

/** @param overdue what was asked, if its deadline has passed by now */
function ofRow(
  { errorCode, output, decision }: ToolRow,
  overdue: Pick<CallSpec, 'onExpiry'> | undefined,
): Outcome {
  if (decision !== undefined) return ofDecision(decision);
  if (errorCode === TIMED_OUT.errorCode) return 'expired';
  if (errorCode !== undefined && CLOSED.has(errorCode)) return 'closed';
  // The result that the tool gives itself; a person who sends the same one is taken for it.
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
