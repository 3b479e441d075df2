import { HelixError, StaleStateError } from '../../protocol/errors.js';
import { runNumberOf } from '../../protocol/ids.js';
import type { Row } from '../../protocol/rows.js';
import { applyChanges } from './apply-changes.js';
import { fitChanges } from './fit-changes.js';
import { checkCount, checkStreamId } from './checked-ids.js';
import type { Act } from '../contract/audit.js';
import type { Calls } from '../contract/calls.js';
import type { Checkpoint, Checkpoints } from '../contract/checkpoints.js';
import type { CustomState } from '../contract/custom-state.js';
import type { Documents } from '../contract/documents.js';
import type { RunInfo, Runs } from '../contract/runs.js';
import type { SessionRecord, Sessions, SessionView } from '../contract/sessions.js';
import type {
  NumberedChanges,
  PromotedState,
  StagedChanges,
  StateRead,
  Staging,
} from '../contract/staging.js';
import { toPendingCalls, toRunInfo, toSuspension } from './session-summaries.js';

/** What a store brings so that its documents can be made of it. */
export interface DocumentPrimitives {
  readRecord: (sessionId: string) => Promise<SessionRecord | undefined>;
  readView: (sessionId: string) => Promise<SessionView | undefined>;
  readRows: (sessionId: string, from: number, to?: number) => Promise<Row[]>;
  countRows: (sessionId: string) => Promise<number>;
  /** Runs that have ended, in any order. */
  readEndedRuns: (sessionId: string) => Promise<RunInfo[]>;
  countCheckpoints: (sessionId: string) => Promise<number>;
  /** Checkpoints by index, oldest first; negative indexes count from the end, `to` is inclusive. */
  readCheckpoints: (sessionId: string, from: number, to: number) => Promise<Checkpoint[]>;
  /** The state of a version that is current or named by a checkpoint. */
  readState: (sessionId: string, version: number) => Promise<CustomState | undefined>;
  /** Replaces the state if it is still the expected version and the staged changes are these. */
  saveState: (
    sessionId: string,
    expectedVersion: number,
    state: CustomState,
    taken?: NumberedChanges[],
  ) => Promise<{ kind: 'saved'; version: number } | { kind: 'stale' } | { kind: 'not_found' }>;
  stage: (sessionId: string, stepId: string, changes: StagedChanges) => Promise<boolean>;
  /** In the order in which they were staged; of all steps if none is named. */
  readStaged: (sessionId: string, stepId?: string) => Promise<NumberedChanges[]>;
  dropStaged: (sessionId: string, stepId: string) => Promise<string[]>;
  erase: (sessionId: string, act?: Act) => Promise<void>;
}

/**
 * State and record are read one after the other. In between the state may be replaced, a few times
 * under load; one that is missing each time is not there.
 */
const MOST_TRIES = 50;

const PAGE = 50;
const MAX_PAGE = 1_000;

/** The nouns of a store, and parts of nouns, that are made of its primitives. */
export interface DocumentNouns {
  documents: Documents;
  checkpoints: Checkpoints;
  staging: Staging;
  runs: Pick<Runs, 'current' | 'list' | 'interruption'>;
  calls: Pick<Calls, 'pending' | 'suspension'>;
  sessions: Pick<Sessions, 'erase'>;
}

/** The documents of a session, over what a store brings. */
export function createSessionDocuments(store: DocumentPrimitives): DocumentNouns {
  async function existing(sessionId: string): Promise<SessionRecord> {
    checkStreamId(sessionId);
    const record = await store.readRecord(sessionId);
    if (record === undefined) throw notFound();
    return record;
  }

  /** Undefined if it was replaced since its version was read. */
  async function stateOf(sessionId: string, version: number): Promise<CustomState | undefined> {
    return version === 0 ? {} : store.readState(sessionId, version);
  }

  /** State and staged changes, one after the other; undefined if the state was replaced in between. */
  async function readNow(sessionId: string, stepId?: string): Promise<StateRead | undefined> {
    const { stateVersion: version } = await existing(sessionId);
    const staged = await store.readStaged(sessionId, stepId);
    const customState = await stateOf(sessionId, version);
    return customState && { version, customState, staged };
  }

  /** Applies staged changes, of one step or of all, by compare-and-set. */
  async function promote(
    sessionId: string,
    stepId: string | undefined,
    apply: (before: CustomState, changes: StagedChanges[]) => CustomState,
    read?: StateRead,
  ): Promise<PromotedState> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const found = tries === 0 && read !== undefined ? read : await readNow(sessionId, stepId);
      if (found === undefined) continue;
      const { version: stateVersion, customState: before, staged } = found;
      const toolCallIds = staged.map(({ toolCallId }) => toolCallId);
      if (staged.length === 0) return { customState: before, version: stateVersion, toolCallIds };
      const customState = apply(before, staged);
      const saved = await store.saveState(sessionId, stateVersion, customState, staged);
      if (saved.kind === 'saved') return { customState, version: saved.version, toolCallIds };
      if (saved.kind === 'not_found') throw notFound();
    }
    throw stateLost();
  }

  return {
    documents: {
      load: async (sessionId) => {
        checkStreamId(sessionId);
        for (let tries = 0; tries < MOST_TRIES; tries += 1) {
          const view = await store.readView(sessionId);
          if (view === undefined) return null;
          const { record, rows, openCalls } = view;
          const customState = await stateOf(sessionId, record.stateVersion);
          // The view is old as well.
          if (customState === undefined) continue;
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
        }
        throw stateLost();
      },
      save: async (sessionId, { customState, version }) => {
        checkStreamId(sessionId);
        checkCount('version', version);
        const saved = await store.saveState(sessionId, version, customState);
        if (saved.kind === 'not_found') throw notFound();
        if (saved.kind === 'stale') throw new StaleStateError(sessionId, version);
        return { version: saved.version };
      },
      readState: async (sessionId, at = 'now') => {
        for (let tries = 0; tries < MOST_TRIES; tries += 1) {
          const { stateVersion, turnStateVersion } = await existing(sessionId);
          if (at === 'turn' && turnStateVersion !== undefined) {
            const customState = await stateOf(sessionId, turnStateVersion);
            if (customState !== undefined) return { customState, version: turnStateVersion };
          }
          const staged = await store.readStaged(sessionId);
          const before = await stateOf(sessionId, stateVersion);
          if (before === undefined) continue;
          // Promoted in between, the changes would be applied twice.
          if ((await existing(sessionId)).stateVersion !== stateVersion) continue;
          return { customState: fitChanges(before, staged), version: stateVersion };
        }
        throw stateLost();
      },
      messages: async (sessionId, { offset = 0, limit = PAGE } = {}) => {
        checkStreamId(sessionId);
        checkCount('offset', offset);
        checkCount('limit', limit);
        const total = await store.countRows(sessionId);
        const messages = await store.readRows(
          sessionId,
          offset,
          Math.min(offset + limit, Math.max(offset, total)),
        );
        return { messages, total, hasMore: offset + messages.length < total };
      },
    },
    checkpoints: {
      get: async (sessionId, checkpointId) => {
        await existing(sessionId);
        const checkpoint = await find(sessionId, checkpointId);
        if (checkpoint === undefined) return null;
        const customState = await stateOf(sessionId, checkpoint.stateVersion);
        // States are kept of the newest turns.
        if (customState === undefined) throw tooOld();
        return { ...checkpoint, customState };
      },
      latest: async (sessionId) => {
        await existing(sessionId);
        return (await store.readCheckpoints(sessionId, -1, -1))[0] ?? null;
      },
      list: async (sessionId, { limit = PAGE, cursor } = {}) => {
        await existing(sessionId);
        checkCount('limit', limit);
        // Checkpoints come and go at the end of the list only, so the indexes of others stay.
        const count = await store.countCheckpoints(sessionId);
        const end = cursor === undefined ? count : Math.min(toIndex(cursor), count);
        const start = Math.max(0, end - Math.min(Math.max(limit, 1), MAX_PAGE));
        const found = end === 0 ? [] : await store.readCheckpoints(sessionId, start, end - 1);
        return { checkpoints: found.reverse(), ...(start > 0 && { cursor: String(start) }) };
      },
    },
    staging: {
      stage: async (sessionId, stepId, changes) => {
        checkStreamId(sessionId);
        const staged = await store.stage(sessionId, stepId, { ...changes, timestamp: Date.now() });
        if (!staged) throw notFound();
      },
      promote: (sessionId, stepId) => promote(sessionId, stepId, applyChanges),
      promoteSettled: (sessionId, read) => promote(sessionId, undefined, fitChanges, read),
      discard: async (sessionId, stepId) => {
        checkStreamId(sessionId);
        return store.dropStaged(sessionId, stepId);
      },
    },
    runs: {
      current: async (sessionId) => {
        checkStreamId(sessionId);
        const record = await store.readRecord(sessionId);
        return record === undefined
          ? null
          : toRunInfo(record, await store.readEndedRuns(sessionId));
      },
      list: async (sessionId) => {
        const record = await existing(sessionId);
        const ended = await store.readEndedRuns(sessionId);
        const older = ended.filter(({ runId }) => runId !== record.runId);
        return [...older, toRunInfo(record, ended)].sort(
          (a, b) => runNumberOf(a.runId) - runNumberOf(b.runId),
        );
      },
      interruption: async (sessionId) => (await existing(sessionId)).interrupted ?? null,
    },
    calls: {
      pending: async (sessionId) => toPendingCalls((await viewOf(sessionId)).openCalls),
      suspension: async (sessionId) => toSuspension(await viewOf(sessionId)),
    },
    sessions: {
      erase: async (sessionId, act) => {
        checkStreamId(sessionId);
        await store.erase(sessionId, act);
      },
    },
  };

  /** The newest first, a page at a time. */
  async function find(sessionId: string, checkpointId: string): Promise<Checkpoint | undefined> {
    let end = await store.countCheckpoints(sessionId);
    while (end > 0) {
      const start = Math.max(0, end - MAX_PAGE);
      const page = await store.readCheckpoints(sessionId, start, end - 1);
      const found = page.find(({ id }) => id === checkpointId);
      if (found !== undefined) return found;
      end = start;
    }
    return undefined;
  }

  async function viewOf(sessionId: string): Promise<SessionView> {
    checkStreamId(sessionId);
    const view = await store.readView(sessionId);
    if (view === undefined) throw notFound();
    return view;
  }
}

function tooOld(): HelixError {
  return new HelixError('not_found', 'The state of so old a checkpoint is no longer kept.');
}

function toIndex(cursor: string): number {
  const index = /^\d+$/.test(cursor) ? Number(cursor) : -1;
  checkCount('cursor', index);
  return index;
}

function stateLost(): HelixError {
  return new HelixError('corrupt_record', 'A stored record cannot be read.', {
    detail: { what: 'state' },
  });
}

function notFound(): HelixError {
  return new HelixError('not_found', 'There is no such session.');
}
