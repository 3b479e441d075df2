import { childPartOf } from '../../protocol/ids.js';
import { LAYOUT } from '../../session/record.js';
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
import { branch } from '../../session/branch.js';
import { end } from '../../session/finish.js';
import { Json, type Addressed, type Decoded, type Stored } from '../../session/input.js';
import { atOf } from '../../session/next.js';
import { editQueued, removeQueued } from '../../session/queue.js';
import { resumeRun, rewind } from '../../session/rerun.js';
import { claim, commit, compact, discard } from '../../session/steps.js';
import { stop, type Stop, type StopReply } from '../../session/stop.js';
import { pinTools } from '../../session/pinned-tools.js';
import type { Session } from '../../session/tree.js';
import { fenceOff, handOver, takeOver } from '../../session/writers.js';
import { checkSessionId, checkStreamId } from '../record/checked-ids.js';
import { fitChanges } from '../record/apply-changes.js';
import { isQuestion } from '../record/questions.js';
import type { StartCallInput } from '../contract/calls.js';
import type { ClaimInput } from '../contract/steps.js';
import { checked, MAX_NEW_ROWS, type Change, type Listener } from '../change.js';
import { onData } from '../contract/shared-data.js';
import type { Noted } from '../contract/due.js';
import type { Changes, Store } from '../contract/store.js';
import { createAudit } from './audit.js';
import type { RedisContext } from './context.js';
import { createDocuments } from './documents.js';
import { createDueLists } from './due-lists.js';
import { sessionOf, toSettle, toStored } from './inputs.js';
import { createErasures, eraseSession } from './erasures.js';
import { createFiles } from './files.js';
import { createLeases } from './leases.js';
import { createRequests } from './known-requests.js';
import { createOwners } from './owners.js';
import { createPauses } from './pauses.js';
import { createSessionReads } from './session-reads.js';
import { toStateRead } from './stored-session.js';
import { createStoredRows } from './stored-rows.js';
import { createUsage } from './usage.js';
import { createWaitingIndex } from './waiting-index.js';

export function createRedisSessionStore(context: RedisContext): Store {
  const reads = createSessionReads(context);
  const { sessions, calls, queue } = reads;
  const { noteAsking, ...waiting } = createWaitingIndex(context, sessions.withCalls);
  const { close, ...owners } = createOwners(context, sessions.rows);
  const documents = createDocuments(context, reads);
  const erase: Store['sessions']['erase'] = async (sessionId, act) => {
    checkStreamId(sessionId);
    await waiting.forget(sessionId);
    // The owner is charged for the usage of its runs even if no process has added it yet.
    const owner = await close(sessionId);
    // A sub-agent's session expires with its conversation.
    if (childPartOf(sessionId) === '') await eraseSession(context, sessionId, act);
    if (owner !== undefined) await owners.fold(sessionId, owner);
  };
  const changes = changesOf(context, noteAsking);

  const store: Store = {
    ...documents,
    listening: (listener) => changesOf(context, noteAsking, listener),
    sessions: { ...sessions, noteSnapshot: noteSnapshotIn(context), ...changes.sessions, erase },
    runs: {
      ...changes.runs,
      ...documents.runs,
      next: ({ sessionId, runId }, wants) =>
        context.look(sessionId, (session) => atOf(checked(session), runId, wants), {
          wants: [['calls', childPartOf(sessionId)]],
        }),
    },
    steps: changes.steps,
    calls: { ...changes.calls, ...calls, ...documents.calls },
    queue: { ...changes.queue, ...queue },
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

/** A snapshot this soon after another one is not noted. */
const NOTED_AGAIN_MS = 5_000;

/** A full Redis accepts the note too. */
function noteSnapshotIn({ change, look, now }: RedisContext): Store['sessions']['noteSnapshot'] {
  return async (sessionId, turn, isActive) => {
    const at = now();
    const isNoted = ({ record }: Session): boolean => {
      if (record === undefined || record.layout > LAYOUT) return true;
      const { snapshot } = record;
      if (!isActive) return snapshot?.turn !== turn;
      return snapshot?.turn === turn && at - snapshot.at < NOTED_AGAIN_MS;
    };
    // Looks do not hold up the run, even if many pages are loaded.
    if (await look(sessionId, isNoted)) return;
    const note = (session: Session): void => {
      if (isNoted(session)) return;
      if (isActive) session.existing.snapshot = { turn, at };
      else delete session.existing.snapshot;
    };
    await change(sessionId, note, {}, { isFreeing: true, wants: [] });
  };
}

/** Above this limit, and above the number of rows that a claim reads, the caller reads the rows itself. */
const MAX_BYTES = 1024 * 1024;

/** Claims a step, and reads its state and the rows from an index on, unless they are too many. */
function claimWith(session: Session, { wants, ...input }: Stored<ClaimInput>) {
  const reply = claim(session, input);
  if (reply.kind !== 'claimed' || wants === undefined) return { reply };
  const { count } = session.rows;
  const from = wants.born === session.existing.born && wants.rows <= count ? wants.rows : 0;
  const rows =
    count - from > MAX_NEW_ROWS || count === from ? [] : session.rows.range(from, count - 1);
  const fits =
    rows.length === count - from &&
    rows.reduce((sum, row) => sum + Buffer.byteLength(row), 0) <= MAX_BYTES;
  return {
    reply,
    fresh: fits ? { from, rows } : { from: count, rows: [] },
    state: wants.state ? toStateRead(session) : undefined,
  };
}

/** Requests permission to execute a call, and reads the agent's state if requested. */
function startWith(session: Session, { withState, ...input }: Stored<StartCallInput>) {
  const reply = startCall(session, input);
  const isGiven = reply.kind === 'execute' || reply.kind === 'verify';
  return { reply, state: isGiven && withState === true ? toStateRead(session) : undefined };
}

/** A full Redis still accepts changes that free memory or end a run. */
const FREEING = { isFreeing: true };

/** Creates the changes of each noun. Callers' content goes to the change as JSON, and the change's reply is decoded. */
function changesOf(
  context: RedisContext,
  noteAsking: (sessionId: string) => Promise<void>,
  listener?: Listener,
): Changes {
  const { toRows } = createStoredRows(context);
  const make: Change = (sessionId, decide, input, options) =>
    context.change(sessionId, decide, input, { listener, ...options });

  const change =
    <Input extends Addressed, Reply extends object>(
      decide: (session: Session, input: Stored<Input>) => Reply,
      options?: { isFreeing?: boolean },
    ) =>
    async (input: Input, noted?: Noted): Promise<Decoded<Reply>> =>
      decoded(await make(sessionOf(input), decide, toStored(input), { ...options, noted }));

  const beginRun: Changes['runs']['begin'] = change(begin);
  const stopRun = change<Stop, StopReply>(stop, FREEING);
  const claimStep = change<ClaimInput, ReturnType<typeof claimWith>>(claimWith);
  const commitStep: Changes['steps']['commit'] = change(commit);
  const startExecution = change<StartCallInput, ReturnType<typeof startWith>>(startWith);

  return {
    sessions: {
      branch: async ({ messages, ...input }) => {
        checkSessionId(input.sessionId);
        return make(input.sessionId, branch, { ...toStored(input), messages });
      },
    },
    runs: {
      begin: async (input, noted) => {
        checkSessionId(input.sessionId);
        return beginRun(input, noted);
      },
      beginChild: change(beginChild),
      resume: change(resumeRun),
      rewind: change(rewind),
      stop: (sessionId, { runId, act, ...request }, noted) =>
        stopRun({ sessionId, runId, act, stop: request, now: context.now() }, noted),
      pinTools: change(pinTools),
      end: change(end, FREEING),
    },
    steps: {
      claim: async (input) => {
        const { sessionId } = input.writer;
        let made = await claimStep(input);
        if (made.reply.kind === 'fencing') {
          // Entries that the other attempt appends meanwhile are withdrawn too.
          await make(sessionId, fenceOff, { writer: input.writer });
          made = await claimStep(input);
        }
        const { reply, fresh, state } = made;
        // A later attempt was faster.
        if (reply.kind === 'fencing') return { kind: 'fenced' };
        if (reply.kind !== 'claimed' || fresh === undefined) return reply;
        const rows = await toRows(sessionId, fresh.rows);
        return {
          ...reply,
          fresh: { from: fresh.from, rows },
          ...(state !== undefined && { state }),
        };
      },
      commit: async (input) => {
        if (input.calls.some(isQuestion)) await noteAsking(input.writer.sessionId);
        return commitStep(input);
      },
      discard: change(discard, FREEING),
      compact: change(compact),
      handOver: change(handOver),
      takeOver: change(takeOver),
    },
    calls: {
      start: async (input, noted) => {
        const { reply, state } = await startExecution(input, noted);
        const now = state && { state: fitChanges(state.customState, state.staged) };
        return { ...decoded(reply), ...now };
      },
      suspend: change(suspendCall),
      settle: async (input, noted) => {
        const sessionId = input.source === 'tool' ? input.writer.sessionId : input.sessionId;
        // Whoever settles a call for another has just read it.
        const usesKept = input.source !== 'tool';
        return make(sessionId, settleCall, toSettle(input), { ...FREEING, noted, usesKept });
      },
      extendDeadline: change(extendDeadline),
      lease: change(leaseCall),
      takeId: change(takeCallId),
    },
    queue: { begin: change(beginQueued), edit: change(editQueued), remove: change(removeQueued) },
  };
}

function decoded<Reply extends object>(reply: Reply): Decoded<Reply> {
  const fields = Object.entries(reply).map(([name, value]: [string, unknown]) => [
    name,
    value instanceof Json ? (JSON.parse(value.text) as unknown) : value,
  ]);
  return Object.fromEntries(fields) as Decoded<Reply>;
}
