import { LIMITS } from '../../protocol/limits.js';
import type { Compaction } from '../../protocol/rows.js';
import { settleCall } from '../../session/answers.js';
import { begin, beginQueued } from '../../session/begin.js';
import {
  extendDeadline,
  leaseCall,
  startCall,
  takeCallId,
  type StartCall,
} from '../../session/calls.js';
import { beginChild } from '../../session/children.js';
import { branch } from '../../session/copy.js';
import { end } from '../../session/end.js';
import { recordStep, suspendCall } from '../../session/journal.js';
import { editQueued, removeQueued } from '../../session/queue.js';
import { resumeRun, rewind } from '../../session/rerun.js';
import { claim, commit, compact, discard, type Claim } from '../../session/steps.js';
import { stop } from '../../session/stop.js';
import { pinTools } from '../../session/streams.js';
import type { Session } from '../../session/tree.js';
import { fenceOff, handOver, takeOver } from '../../session/writers.js';
import { checkSessionId } from '../record/checked-ids.js';
import { fitChanges } from '../record/fit-changes.js';
import { createSessionDocuments } from '../record/session-documents.js';
import { fromUsage, toUsage } from '../record/run-usage.js';
import { toStoredRow } from '../record/to-stored-row.js';
import { isQuestion } from '../record/waiting-page.js';
import type { CallPermission } from '../contract/calls.js';
import type { Runs } from '../contract/runs.js';
import type { Sessions } from '../contract/sessions.js';
import type { ClaimInput, Steps } from '../contract/steps.js';
import { onData } from '../contract/shared-data.js';
import type { Changes, Store } from '../contract/store.js';
import { branchOf } from './branch-requests.js';
import { createAudit } from './audit.js';
import type { RedisContext } from './context.js';
import { createDocumentPrimitives } from './document-primitives.js';
import { createDueLists } from './due-lists.js';
import {
  json,
  toAsker,
  toBegin,
  toBeginChild,
  toClaim,
  toCommit,
  toEnd,
  toRecordStep,
  toRewind,
  toSettle,
  toSuspend,
} from './inputs.js';
import { createErasures } from './erasures.js';
import { createFiles } from './files.js';
import { createJournalReads } from './journal-reads.js';
import { createLeases } from './leases.js';
import { createMake, type Make } from './make-change.js';
import { createRequests } from './known-requests.js';
import { createOwners } from './owners.js';
import { createBatchRecords } from './batches.js';
import { createPauses } from './pauses.js';
import { createSessionReads } from './session-reads.js';
import { readStaged } from './session-texts.js';
import { createStoredRows } from './stored-rows.js';
import { toStateRead } from './stored-state.js';
import { createTallies } from './tallies.js';
import { createUsage } from './usage.js';
import { createWaitingIndex } from './waiting-index.js';

/**
 * The record of sessions. Each change is one transition; this file maps methods to requests and
 * results.
 */
export function createRedisSessionStore(context: RedisContext): Store {
  const reads = createSessionReads(context);
  const primitives = createDocumentPrimitives(context);
  const { noteAsking, ...waiting } = createWaitingIndex(context, reads.readCalls);
  const { close, ...owners } = createOwners(context, reads.readRows);
  const documents = createSessionDocuments({
    ...reads,
    ...primitives,
    erase: async (sessionId, act) => {
      await waiting.forget(sessionId);
      // What its runs have used counts for its owner even if no process has added it yet.
      const owner = await close(sessionId);
      await primitives.erase(sessionId, act);
      if (owner !== undefined) await owners.fold(sessionId, owner);
    },
  });

  const changesOf = (make: Make): Changes => {
    const changing = { ...context, make };
    return {
      sessions: { branch: createBranch(changing) },
      runs: createRuns(changing),
      steps: createSteps(changing, noteAsking),
      calls: createCalls(changing, noteAsking),
      queue: createQueue(changing),
    };
  };
  const changes = changesOf(context.make);

  const store: Store = {
    listening: (listener) => changesOf(createMake(context.change, listener)),
    sessions: {
      read: reads.readRecord,
      rows: reads.readRows,
      children: reads.readChildren,
      carriers: reads.readCarriers,
      view: reads.readView,
      withCalls: reads.readCalls,
      acceptedMessages: reads.acceptedMessages,
      runOf: reads.runOf,
      askers: reads.askers,
      noteActiveSnapshot: (sessionId, turn) => noteSnapshot(context, sessionId, turn, true),
      noteRestingSnapshot: (sessionId, turn) => noteSnapshot(context, sessionId, turn, false),
      ...changes.sessions,
      ...documents.sessions,
    },
    runs: { ...changes.runs, ...documents.runs },
    steps: changes.steps,
    calls: { ...changes.calls, read: reads.readCall, ...documents.calls },
    queue: { ...changes.queue, read: reads.readQueue },
    documents: documents.documents,
    checkpoints: documents.checkpoints,
    staging: documents.staging,
    waiting,
    due: createDueLists(context),
    owners,
    audit: createAudit(context),
    erasures: createErasures(context, { waiting, owners, read: reads.readRecord }),
    tallies: createTallies(context),
    usage: createUsage(context),
    batches: createBatchRecords(context),
    pauses: createPauses(context),
    requests: createRequests(context),
    files: createFiles(context),
    leases: createLeases(context, context.leaseThread),
  };
  return onData(store, context.data);
}

/** A page that is shown a turn soon after another one notes nothing. */
const NOTED_AGAIN_MS = 5_000;

/** Remembers that a page was shown a turn while it was active, or forgets it; also while Redis is full. */
async function noteSnapshot(
  { change, look, now }: RedisContext,
  sessionId: string,
  turn: number,
  isActive: boolean,
): Promise<void> {
  const at = now();
  const isNoted = ({ record }: Session): boolean => {
    if (record === undefined) return true;
    const { snapshot } = record;
    if (!isActive) return snapshot?.turn !== turn;
    return snapshot?.turn === turn && at - snapshot.at < NOTED_AGAIN_MS;
  };
  // Pages that are loaded by many do not stand in the way of the run.
  if (await look(sessionId, isNoted)) return;
  await change(
    sessionId,
    (session) => {
      if (isNoted(session)) return;
      if (isActive) session.existing.snapshot = { turn, at };
      else delete session.existing.snapshot;
    },
    { isFreeing: true, mayGrow: true },
  );
}

function createBranch(context: RedisContext): Sessions['branch'] {
  const { make } = context;
  return async (input) => {
    checkSessionId(input.sessionId);
    return make(input.sessionId, branch, branchOf(input));
  };
}

function createRuns(context: RedisContext): Changes['runs'] {
  const { maxEntries, now } = context;
  const { make } = context;
  return {
    begin: async (input) => {
      checkSessionId(input.sessionId);
      return make(input.sessionId, begin, toBegin(input, maxEntries));
    },
    beginChild: async (input) => make(input.child.sessionId, beginChild, toBeginChild(input)),
    resume: async ({ sessionId, by = '', asker, act, ...input }) =>
      make(sessionId, resumeRun, {
        ...input,
        by,
        asker: toAsker({ asker, by }),
        act: json(act),
      }) as ReturnType<Runs['resume']>,
    rewind: async (input) => make(input.sessionId, rewind, toRewind(input)),
    stop: async (sessionId, { runId, act, ...request }) =>
      make(
        sessionId,
        stop,
        { runId, stop: request, now: now(), act: json(act) },
        { isFreeing: true },
      ),
    pinTools: async ({ sessionId, runId, tools }) => {
      const reply = await make(sessionId, pinTools, { runId, tools: json(tools) });
      return reply.kind === 'pinned'
        ? { ...reply, tools: JSON.parse(reply.tools) as unknown }
        : reply;
    },
    end: async (input) => make(input.sessionId, end, toEnd(input), { isFreeing: true }),
  };
}

/** More rows or bytes than this are read by the caller. */
const MOST_ROWS = 100;
const MOST_BYTES = 1024 * 1024;

type Wanted = NonNullable<ClaimInput['wants']>;

/** What a step needs besides its claim: rows from an index on, none if there are too many, and the state. */
function readWanted(session: Session, { born, rows: known, state }: Wanted): Texts {
  const { count } = session.rows;
  const from = born === session.existing.born && known <= count ? known : 0;
  const rows =
    count - from > MOST_ROWS || count === from ? [] : session.rows.range(from, count - 1);
  const fits =
    rows.length === count - from &&
    rows.reduce((sum, row) => sum + Buffer.byteLength(row), 0) <= MOST_BYTES;
  return {
    from: fits ? from : count,
    rows: fits ? rows : [],
    state: state ? readStaged(session) : undefined,
  };
}

interface Texts {
  from: number;
  rows: string[];
  state: ReturnType<typeof readStaged> | undefined;
}

function createSteps(
  context: RedisContext,
  noteAsking: (sessionId: string) => Promise<void>,
): Steps {
  const { make } = context;
  const { toRows } = createStoredRows(context);
  return {
    claim: async ({ wants, ...input }) => {
      const { sessionId } = input.writer;
      const given = { claim: toClaim(input), wants };
      let made = await make(sessionId, claimWith, given);
      if (made.reply.kind === 'fencing') {
        // Whatever it appends meanwhile is withdrawn with the rest.
        await make(sessionId, fenceOff, { writer: given.claim.writer }, { mayGrow: true });
        made = await make(sessionId, claimWith, given);
      }
      const { reply, texts } = made;
      // A later attempt has come in between.
      if (reply.kind === 'fencing') return { kind: 'fenced' };
      if (reply.kind !== 'claimed') return reply;
      const { usage, ...claimed } = reply;
      return {
        ...claimed,
        ...(usage !== undefined && { usage: fromUsage(usage) }),
        ...(texts !== undefined && {
          fresh: { from: texts.from, rows: await toRows(sessionId, texts.rows) },
        }),
        ...(texts?.state !== undefined && { state: toStateRead(texts.state) }),
      };
    },
    commit: async (input) => {
      const { sessionId } = input.writer;
      const given = toCommit(input);
      if (input.calls.some(isQuestion)) await noteAsking(sessionId);
      return make(sessionId, commit, given);
    },
    discard: async ({ usage, ...input }) =>
      make(
        input.writer.sessionId,
        discard,
        { ...input, usage: toUsage(usage) },
        { isFreeing: true },
      ),
    compact: async ({ writer, compaction, usage }) => {
      const given = { writer, compaction: json(compaction), usage: toUsage(usage) };
      const reply = await make(writer.sessionId, compact, given);
      return reply.kind === 'kept'
        ? { ...reply, compaction: JSON.parse(reply.compaction) as Compaction }
        : reply;
    },
    handOver: async (input) => make(input.writer.sessionId, handOver, input),
    takeOver: async ({ sessionId, ...input }) => make(sessionId, takeOver, input),
  };
}

/** A claim, with what the step needs besides. */
function claimWith(
  session: Session,
  { claim: input, wants }: { claim: Claim; wants: Wanted | undefined },
): { reply: ReturnType<typeof claim>; texts: Texts | undefined } {
  const reply = claim(session, input);
  const isWanted = reply.kind === 'claimed' && wants !== undefined;
  return { reply, texts: isWanted ? readWanted(session, wants) : undefined };
}

/** Permission to execute a call, with the agent's state if it is wanted. */
function startWith(
  session: Session,
  { withState, ...input }: StartCall & { withState?: boolean | undefined },
): { reply: ReturnType<typeof startCall>; state: ReturnType<typeof readStaged> | undefined } {
  const reply = startCall(session, input);
  const isGiven = reply.kind === 'execute' || reply.kind === 'verify';
  return { reply, state: isGiven && withState === true ? readStaged(session) : undefined };
}

function createCalls(
  context: RedisContext,
  noteAsking: (sessionId: string) => Promise<void>,
): Changes['calls'] {
  const { make } = context;
  const withAnswers = createJournalReads(context);
  const parse = (text: string | undefined): unknown =>
    text === undefined ? undefined : JSON.parse(text);
  return {
    start: async ({ writer, budget = LIMITS.attempts, ...input }) => {
      const { sessionId } = writer;
      const { reply, state } = await make(sessionId, startWith, { writer, budget, ...input });
      if (!('texts' in reply)) return reply;
      const { texts, ...rest } = reply;
      const read = state && toStateRead(state);
      return withAnswers(sessionId, {
        ...rest,
        call: parse(texts.call),
        ...(texts.decision !== undefined && { decision: parse(texts.decision) }),
        ...(texts.approver !== undefined && { approver: parse(texts.approver) }),
        ...(texts.journal !== undefined && { journal: parse(texts.journal) }),
        ...(read !== undefined && { state: fitChanges(read.customState, read.staged) }),
      } as CallPermission);
    },
    recordStep: async (input) => make(input.writer.sessionId, recordStep, toRecordStep(input)),
    suspend: async (input) => {
      const { sessionId } = input.writer;
      const given = toSuspend(input);
      if (isQuestion(input.wait)) await noteAsking(sessionId);
      return make(sessionId, suspendCall, given);
    },
    settle: async (input) => {
      const sessionId = input.source === 'tool' ? input.writer.sessionId : input.sessionId;
      return make(sessionId, settleCall, toSettle(input), { isFreeing: true });
    },
    extendDeadline: async ({ sessionId, act, ...input }) =>
      make(sessionId, extendDeadline, {
        ...input,
        mostAheadMs: LIMITS.deadlineAheadMs,
        act: json(act),
      }),
    lease: async ({ sessionId, ...input }) => make(sessionId, leaseCall, input),
    takeId: async ({ sessionId, ...input }) => make(sessionId, takeCallId, input),
  };
}

function createQueue(context: RedisContext): Changes['queue'] {
  const { maxEntries } = context;
  const { make } = context;
  return {
    begin: async ({ sessionId, ...input }) =>
      make(sessionId, beginQueued, { ...input, cap: maxEntries }),
    edit: async ({ sessionId, message: { id, hash, row }, expectedHash, asker, now }) =>
      make(sessionId, editQueued, {
        message: { id, hash, row: toStoredRow(row) },
        ...{ expectedHash, now, asker: toAsker({ asker }, true) },
      }),
    remove: async ({ sessionId, ...input }) => make(sessionId, removeQueued, input),
  };
}
