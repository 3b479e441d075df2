import { randomUUID } from 'node:crypto';
import { HelixError, StaleStateError } from '../../protocol/errors.js';
import { childPartOf, runNumberOf } from '../../protocol/ids.js';
import { type Usage, fromUsage } from '../../session/record.js';
import type { Want } from '../../session/fields.js';
import { summaryOf } from '../../session/finish.js';
import { checkpointAt, findCheckpoint } from '../../session/target.js';
import { dropStaged, putState, saveState, stage } from '../../session/state.js';
import type { Session } from '../../session/tree.js';
import type { Calls } from '../contract/calls.js';
import type {
  CustomState,
  PromotedState,
  StagedChanges,
  StateRead,
} from '../contract/documents.js';
import type { RunInfo, Runs } from '../contract/runs.js';
import type { SessionCalls } from '../contract/sessions.js';
import type { Store } from '../contract/store.js';
import { applyChanges, fitChanges } from '../record/apply-changes.js';
import { checkCount, checkStreamId } from '../record/checked-ids.js';
import { toPendingCalls, toSuspension } from '../record/session-summaries.js';
import { corrupt } from '../record/corrupt.js';
import { parseStored, toStoredChanges, toStoredJson } from '../record/stored-json.js';
import type { RedisContext } from './context.js';
import type { createSessionReads } from './session-reads.js';
import { stateAt, toStateRead } from './stored-session.js';

const PAGE = 50;
const MAX_PAGE = 1_000;

export function createDocuments(
  { redis, keys, change, look, now }: RedisContext,
  { sessions, readView }: ReturnType<typeof createSessionReads>,
): Pick<Store, 'documents' | 'checkpoints' | 'staging'> & {
  runs: Pick<Runs, 'current' | 'read' | 'list' | 'interruption'>;
  calls: Pick<Calls, 'pending' | 'suspension'>;
} {
  async function callsOf(sessionId: string): Promise<SessionCalls> {
    checkStreamId(sessionId);
    return (await sessions.withCalls(sessionId)) ?? notFound();
  }

  async function readOf<Found>(sessionId: string, read: (session: Session) => Found) {
    checkStreamId(sessionId);
    const found = await look(sessionId, (session) =>
      session.record?.agent === undefined ? undefined : { of: read(session) },
    );
    return (found ?? notFound()).of;
  }

  async function promote(
    sessionId: string,
    stepId: string | undefined,
    apply: (before: CustomState, changes: StagedChanges[]) => CustomState,
    read?: StateRead,
  ): Promise<PromotedState> {
    checkStreamId(sessionId);
    const step = stepId === undefined ? undefined : toStoredStep(stepId).toWellFormed();
    if (read?.staged.length === 0) {
      return { customState: read.customState, version: read.version, toolCallIds: [] };
    }
    const contents = read?.staged.map((each) => `s:${each.stepId}/${each.toolCallId}`) ?? [];
    const wants = [`v:${String(read?.version ?? 0)}`, ...contents].map((name): Want => [
      'field',
      'content',
      childPartOf(sessionId),
      name,
    ]);
    const promoteStaged = (session: Session): PromotedState => {
      const { record } = session;
      if (record?.agent === undefined) return notFound();
      const { version, customState: before, staged } = toStateRead(session);
      const changes = staged.filter((each) => step === undefined || each.stepId === step);
      const toolCallIds = dropStaged(session, step);
      if (changes.length === 0) return { customState: before, version, toolCallIds };
      const customState = apply(before, changes);
      record.updated = now();
      return { customState, version: putState(session, toStoredJson(customState)), toolCallIds };
    };
    return change(sessionId, promoteStaged, {}, { wants });
  }

  return {
    documents: {
      load: async (sessionId) => {
        checkStreamId(sessionId);
        const view = await readView(sessionId, { withState: true });
        if (view === undefined) return null;
        const { record, rows, openCalls, customState } = view;
        if (customState === undefined) throw corrupt('state');
        const suspension = toSuspension(view);
        return {
          ...record,
          messages: rows,
          customState,
          version: record.stateVersion,
          pendingClientToolCalls: toPendingCalls(openCalls),
          ...(suspension !== null && { suspensionContext: suspension }),
          ...(record.interrupted !== undefined && { interruptContext: record.interrupted }),
        };
      },
      save: async (sessionId, { customState, version: before }) => {
        checkStreamId(sessionId);
        checkCount('version', before);
        const saved = await change(sessionId, saveState, {
          expectedVersion: before,
          state: toStoredJson(customState),
          nonce: randomUUID(),
          now: now(),
        });
        if (saved.kind === 'saved') return { version: saved.version };
        if (saved.kind === 'not_found') notFound();
        throw new StaleStateError(sessionId, before);
      },
      readState: async (sessionId, at = 'now') => {
        return readOf(sessionId, (session) => {
          const ofTurn = at === 'turn' ? session.existing.turn.stateVersion : undefined;
          const kept = ofTurn === undefined ? undefined : stateAt(session, ofTurn);
          if (ofTurn !== undefined && kept !== undefined)
            return { customState: kept, version: ofTurn };
          const { version, customState, staged } = toStateRead(session);
          return { customState: fitChanges(customState, staged), version };
        });
      },
      messages: async (sessionId, { offset = 0, limit = PAGE } = {}) => {
        checkStreamId(sessionId);
        checkCount('offset', offset);
        checkCount('limit', limit);
        const total = await redis.llen(keys.session(sessionId).rows);
        const end = Math.min(offset + limit, Math.max(offset, total));
        const messages = await sessions.rows(sessionId, offset, end);
        return { messages, total, hasMore: offset + messages.length < total };
      },
    },
    checkpoints: {
      get: (sessionId, checkpointId) =>
        readOf(sessionId, (session) => {
          const { checkpoint } = findCheckpoint(session, checkpointId);
          if (checkpoint === undefined) return null;
          const customState = stateAt(session, checkpoint.stateVersion);
          // Only states of the newest turns are kept.
          if (customState === undefined)
            notFound('The state of so old a checkpoint is no longer kept.');
          return { ...checkpoint, customState };
        }),
      latest: (sessionId) =>
        readOf(
          sessionId,
          (session) => checkpointAt(session, session.existing.checkpoints - 1) ?? null,
        ),
      list: async (sessionId, { limit = PAGE, cursor } = {}) => {
        checkCount('limit', limit);
        // Checkpoints come and go only at the end of the list, so the others' indexes stay.
        const before = cursor === undefined ? Infinity : /^\d+$/.test(cursor) ? Number(cursor) : -1;
        if (cursor !== undefined) checkCount('cursor', before);
        return readOf(sessionId, (session) => {
          const end = Math.min(before, session.existing.checkpoints);
          const start = Math.max(0, end - Math.min(Math.max(limit, 1), MAX_PAGE));
          const checkpoints = Array.from({ length: end - start }, (_, at) => end - 1 - at).flatMap(
            (index) => checkpointAt(session, index) ?? [],
          );
          return { checkpoints, ...(start > 0 && { cursor: String(start) }) };
        });
      },
    },
    staging: {
      stage: async (sessionId, stepId, changes) => {
        checkStreamId(sessionId);
        const isStaged = await change(sessionId, stage, {
          step: toStoredStep(stepId),
          call: changes.toolCallId,
          changes: toStoredChanges({ ...changes, timestamp: Date.now() }),
        });
        if (!isStaged) notFound();
      },
      promote: (sessionId, stepId) => promote(sessionId, stepId, applyChanges),
      promoteSettled: (sessionId, read) => promote(sessionId, undefined, fitChanges, read),
      discard: async (sessionId, stepId) => {
        checkStreamId(sessionId);
        const step = toStoredStep(stepId).toWellFormed();
        return change(sessionId, (session) => dropStaged(session, step), {}, { wants: [] });
      },
    },
    runs: {
      current: async (sessionId) => {
        checkStreamId(sessionId);
        return look(sessionId, (session) =>
          session.record?.agent === undefined ? null : infoOf(session, session.existing.run.id),
        );
      },
      read: (sessionId, runId) => readOf(sessionId, (session) => infoOf(session, runId)),
      list: (sessionId) =>
        readOf(sessionId, (session) => {
          const { existing, runs } = session;
          const newest = [existing.run.id, summaryOf(existing)] as const;
          const all = [...new Map([newest, ...runs.all()])];
          const rewinds = all.flatMap(([name, text]) =>
            name.startsWith(REWIND) ? (JSON.parse(text) as Dropped) : [],
          );
          return all
            .flatMap(([name, text]) =>
              name.startsWith(REWIND) ? [] : toRunInfo(session, text, rewinds),
            )
            .sort((a, b) => runNumberOf(a.runId) - runNumberOf(b.runId));
        }),
      interruption: (sessionId) =>
        readOf(sessionId, ({ existing: { run } }) => run.interrupted ?? null),
    },
    calls: {
      pending: async (sessionId) => toPendingCalls((await callsOf(sessionId)).openCalls),
      suspension: async (sessionId) => toSuspension(await callsOf(sessionId)),
    },
  };
}

/** Prefix of rewinds among the stored runs of a session. */
export const REWIND = 'rewind ';

/** A stored run: its usage as numbers, its result by reference. */
type StoredRun = Omit<RunInfo, 'usage'> & { usage?: Usage; outputRef?: string };

/** Returns one run, without a note of a rewind that dropped it; null if there is no such run. */
function infoOf(session: Session, runId: string): RunInfo | null {
  const { runs, existing } = session;
  const newest = existing.run.id === runId ? summaryOf(existing) : undefined;
  const text = runs.get(runId) ?? newest;
  return text === undefined || runId.startsWith(REWIND) ? null : toRunInfo(session, text, []);
}

function toRunInfo({ tree }: Session, text: string, rewinds: readonly Dropped[]): RunInfo {
  const { usage, outputRef = '', ...run } = parseStored(text, 'run') as StoredRun;
  const output = outputRef === '' ? undefined : tree.conversation.results.get(outputRef);
  return {
    ...run,
    usage: usage === undefined ? undefined : fromUsage(usage),
    ...(output !== undefined && { output: parseStored(output, 'output') }),
    ...(rewinds.some((rewind) => isDropped(run, rewind)) && { rewound: true }),
  };
}

/** A rewind, which dropped the runs of turns that began at its row or later. */
interface Dropped {
  n: number;
  row: number;
  mode: string;
}

function isDropped(
  { runId, startRow }: Pick<RunInfo, 'runId' | 'startRow'>,
  { n, row, mode }: Dropped,
): boolean {
  return runNumberOf(runId) <= n && (startRow > row || (startRow === row && mode === 'retry'));
}

/** Escapes a step id: the first slash ends it, whatever the call id contains. */
function toStoredStep(stepId: string): string {
  return stepId.replaceAll('%', '%25').replaceAll('/', '%2F');
}

function notFound(text = 'There is no such session.'): never {
  throw new HelixError('not_found', text);
}
