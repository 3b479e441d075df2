import { childPartOf } from '../../protocol/ids.js';
import { settleCall } from '../../session/answers.js';
import { begin, beginQueued } from '../../session/begin.js';
import {
  extendDeadline,
  leaseCall,
  startCall,
  suspendCall,
  takeCallId,
} from '../../session/calls.js';
import { beginChild } from '../../session/children.js';
import { branch } from '../../session/copy.js';
import { end } from '../../session/end.js';
import type { Addressed, Stored } from '../../session/input.js';
import { atOf } from '../../session/next.js';
import { editQueued, removeQueued } from '../../session/queue.js';
import { resumeRun, rewind } from '../../session/rerun.js';
import { claim, commit, compact, discard } from '../../session/steps.js';
import { stop, type Stop } from '../../session/stop.js';
import { pinTools } from '../../session/streams.js';
import type { Session } from '../../session/tree.js';
import { fenceOff, handOver, takeOver } from '../../session/writers.js';
import { checkSessionId, checkStreamId } from '../record/checked-ids.js';
import { fitChanges } from '../record/apply-changes.js';
import { fromUsage } from '../record/run-usage.js';
import { isQuestion } from '../record/questions.js';
import type { CallPermission, StartCallInput } from '../contract/calls.js';
import type { StateRead } from '../contract/staging.js';
import type { ClaimInput } from '../contract/steps.js';
import { onData } from '../contract/shared-data.js';
import type { Noted } from '../contract/due.js';
import type { Changes, Store } from '../contract/store.js';
import { createAudit } from './audit.js';
import type { RedisContext } from './context.js';
import { createDocuments } from './documents.js';
import { createDueLists } from './due-lists.js';
import { branchOf, sessionOf, toSettle, toStored } from './inputs.js';
import { createErasures, eraseSession } from './erasures.js';
import { createFiles } from './files.js';
import type { Compaction } from '../../protocol/rows.js';
import { createLeases } from './leases.js';
import { checked, createMake, type Make } from './make-change.js';
import { createRequests } from './known-requests.js';
import { createOwners } from './owners.js';
import { createPauses } from './pauses.js';
import { createSessionReads } from './session-reads.js';
import { toStateRead } from './stored-session.js';
import { createStoredRows } from './stored-rows.js';
import { createUsage } from './usage.js';
import { createWaitingIndex } from './waiting-index.js';

/** The record of sessions: its reads, its changes, and what stands beside it. */
export function createRedisSessionStore(context: RedisContext): Store {
  const { sessions, calls, queue } = createSessionReads(context);
  const { noteAsking, ...waiting } = createWaitingIndex(context, sessions.withCalls);
  const { close, ...owners } = createOwners(context, sessions.rows);
  const documents = createDocuments(context, sessions);
  const erase: Store['sessions']['erase'] = async (sessionId, act) => {
    checkStreamId(sessionId);
    await waiting.forget(sessionId);
    // What its runs have used counts for its owner even if no process has added it yet.
    const owner = await close(sessionId);
    // A sub-agent's session expires with its conversation.
    if (childPartOf(sessionId) === '') await eraseSession(context, sessionId, act);
    if (owner !== undefined) await owners.fold(sessionId, owner);
  };
  const changes = changesOf(context, context.make, noteAsking);

  const store: Store = {
    listening: (listener) => changesOf(context, createMake(context.change, listener), noteAsking),
    sessions: {
      ...sessions,
      noteActiveSnapshot: (sessionId, turn) => noteSnapshot(context, sessionId, turn, true),
      noteRestingSnapshot: (sessionId, turn) => noteSnapshot(context, sessionId, turn, false),
      ...changes.sessions,
      erase,
    },
    runs: { ...changes.runs, ...documents.runs, next: nextOf(context) },
    steps: changes.steps,
    calls: { ...changes.calls, ...calls, ...documents.calls },
    queue: { ...changes.queue, ...queue },
    documents: documents.documents,
    checkpoints: documents.checkpoints,
    staging: documents.staging,
    waiting,
    due: createDueLists(context),
    owners,
    audit: createAudit(context),
    erasures: createErasures(context, { waiting, owners, read: sessions.read }),
    usage: createUsage(context),
    pauses: createPauses(context),
    requests: createRequests(context),
    files: createFiles(context),
    leases: createLeases(context, context.leaseThread),
  };
  return onData(store, context.data);
}

function nextOf({ look }: RedisContext): Store['runs']['next'] {
  return ({ sessionId, runId }, wants) =>
    look(sessionId, (session) => atOf(checked(session), runId, wants), {
      wants: [['calls', childPartOf(sessionId)]],
    });
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
    state: state ? toStateRead(session) : undefined,
  };
}

interface Texts {
  from: number;
  rows: string[];
  state: StateRead | undefined;
}

/** A claim, with what the step needs besides. */
function claimWith(
  session: Session,
  { wants, ...input }: Stored<ClaimInput>,
): { reply: ReturnType<typeof claim>; texts: Texts | undefined } {
  const reply = claim(session, input);
  const isWanted = reply.kind === 'claimed' && wants !== undefined;
  return { reply, texts: isWanted ? readWanted(session, wants) : undefined };
}

/** Permission to execute a call, with the agent's state if it is wanted. */
function startWith(
  session: Session,
  { withState, ...input }: Stored<StartCallInput>,
): { reply: ReturnType<typeof startCall>; state: StateRead | undefined } {
  const reply = startCall(session, input);
  const isGiven = reply.kind === 'execute' || reply.kind === 'verify';
  return { reply, state: isGiven && withState === true ? toStateRead(session) : undefined };
}

/** Changes that free memory or end a run are made where Redis is full, too. */
const FREEING = { isFreeing: true };

/** The changes of each noun: what callers give goes to the change as it is, content as JSON. */
function changesOf(
  context: RedisContext,
  make: Make,
  noteAsking: (sessionId: string) => Promise<void>,
): Changes {
  const { toRows } = createStoredRows(context);

  async function change<Input extends Addressed, Reply>(
    decide: (session: Session, input: Stored<Input>) => Reply,
    input: Input,
    options?: { isFreeing?: boolean; noted?: Noted },
  ): Promise<Reply> {
    return make(sessionOf(input), decide, toStored(input), options);
  }

  return {
    sessions: {
      branch: async (input) => {
        checkSessionId(input.sessionId);
        return make(input.sessionId, branch, branchOf(input));
      },
    },
    runs: {
      begin: async (input, noted) => {
        checkSessionId(input.sessionId);
        return change(begin, input, { noted });
      },
      beginChild: (input) => change(beginChild, input),
      resume: (input) => change(resumeRun, input),
      rewind: (input) => change(rewind, input),
      stop: (sessionId, { runId, act, ...request }, noted) =>
        change(stop, { sessionId, runId, act, stop: request, now: context.now() } satisfies Stop, {
          ...FREEING,
          noted,
        }),
      pinTools: async (input) => {
        const reply = await change(pinTools, input);
        return reply.kind === 'pinned' ? { ...reply, tools: parse(reply.tools) } : reply;
      },
      end: (input) => change(end, input, FREEING),
    },
    steps: {
      claim: async (input) => {
        const { sessionId } = input.writer;
        let made = await change(claimWith, input);
        if (made.reply.kind === 'fencing') {
          // Whatever it appends meanwhile is withdrawn with the rest.
          await make(sessionId, fenceOff, { writer: input.writer }, { mayGrow: true });
          made = await change(claimWith, input);
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
          ...(texts?.state !== undefined && { state: texts.state }),
        };
      },
      commit: async (input) => {
        if (input.calls.some(isQuestion)) await noteAsking(input.writer.sessionId);
        return change(commit, input);
      },
      discard: (input) => change(discard, input, FREEING),
      compact: async (input) => {
        const reply = await change(compact, input);
        return reply.kind === 'kept'
          ? { ...reply, compaction: parse(reply.compaction) as Compaction }
          : reply;
      },
      handOver: (input) => change(handOver, input),
      takeOver: (input) => change(takeOver, input),
    },
    calls: {
      start: async (input) => {
        const { reply, state } = await change(startWith, input);
        if (!('texts' in reply)) return reply;
        const { texts, ...rest } = reply;
        return {
          ...rest,
          call: parse(texts.call),
          ...(texts.decision !== undefined && { decision: parse(texts.decision) }),
          ...(texts.approver !== undefined && { approver: parse(texts.approver) }),
          ...(state !== undefined && { state: fitChanges(state.customState, state.staged) }),
        } as CallPermission;
      },
      suspend: (input) => change(suspendCall, input),
      settle: async (input, noted) => {
        const sessionId = input.source === 'tool' ? input.writer.sessionId : input.sessionId;
        return make(sessionId, settleCall, toSettle(input), { ...FREEING, noted });
      },
      extendDeadline: (input) => change(extendDeadline, input),
      lease: (input) => change(leaseCall, input),
      takeId: (input) => change(takeCallId, input),
    },
    queue: {
      begin: (input) => change(beginQueued, input),
      edit: (input) => change(editQueued, input),
      remove: (input) => change(removeQueued, input),
    },
  };
}

function parse(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}
