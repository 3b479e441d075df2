import { checkSessionId } from '../record/checked-ids.js';
import { toCheckedJson } from '../record/checked-messages.js';
import { createSessionDocuments } from '../record/session-documents.js';
import { isQuestion } from '../record/waiting-page.js';
import type { Store } from '../contract/store.js';
import { createDocumentPrimitives } from './document-primitives.js';
import type { MemoryData } from './memory-data.js';
import { change, tellOfStop } from './session-access.js';
import { createSessionIndex } from './session-index.js';
import { createSessionReads } from './session-reads.js';
import { toSettlingJson } from './settling-chunks.js';
import { beginChild } from './transitions/begin-child.js';
import { beginQueued } from './transitions/begin-queued.js';
import { begin } from './transitions/begin.js';
import { claim } from './transitions/claim.js';
import { commit } from './transitions/commit.js';
import { discard } from './transitions/discard.js';
import { editQueued } from './transitions/edit-queued.js';
import { end } from './transitions/end.js';
import { leaseCall } from './transitions/lease-call.js';
import { extendDeadline } from './transitions/extend-deadline.js';
import { branch } from './transitions/branch.js';
import { removeQueued } from './transitions/remove-queued.js';
import { resumeRun } from './transitions/resume-run.js';
import { rewind } from './transitions/rewind.js';
import { settleCall } from './transitions/settle-call.js';
import { startCall } from './transitions/start-call.js';
import { stop } from './transitions/stop.js';
import { takeCallId } from './transitions/take-call-id.js';
import { takeOver } from './transitions/take-over.js';
import { createWaitingIndex } from './waiting-index.js';

/** The record of sessions in memory: each transition is one file, this file is its calling form. */
export function createMemorySessionStore(data: MemoryData): Store {
  const reads = createSessionReads(data);
  const { noteAsking, ...waiting } = createWaitingIndex(data, reads.readCalls);
  const { noteActiveSnapshot, ...due } = createSessionIndex(data);
  const documents = createSessionDocuments({ ...reads, ...createDocumentPrimitives(data) });

  return {
    sessions: {
      read: reads.readRecord,
      rows: reads.readRows,
      view: reads.readView,
      withCalls: reads.readCalls,
      acceptedMessages: reads.acceptedMessages,
      noteActiveSnapshot,
      branch: async (input) => {
        checkSessionId(input.sessionId);
        return change(data, input.sessionId, (session, context) => branch(session, input, context));
      },
      ...documents.sessions,
    },
    runs: {
      begin: async (input) => {
        checkSessionId(input.sessionId);
        const { sessionId } = input;
        const result = change(data, sessionId, (session, context) =>
          begin(session, input, context),
        );
        const isStopped =
          result.kind === 'interrupting' ||
          (result.kind === 'begun' && result.run.supersededRunId !== undefined);
        if (isStopped) tellOfStop(data, sessionId);
        return result;
      },
      beginChild: async (input) =>
        change(data, input.child.sessionId, (session) => beginChild(session, input)),
      resume: async (input) =>
        change(data, input.sessionId, (session) => resumeRun(session, input)),
      rewind: async (input) => change(data, input.sessionId, (session) => rewind(session, input)),
      stop: async (sessionId, request) => {
        const result = change(data, sessionId, (session, context) =>
          stop(session, request, context),
        );
        if (result.kind !== 'nothing') tellOfStop(data, sessionId);
        return result;
      },
      end: async (input) =>
        change(data, input.sessionId, (session, context) => end(session, input, context)),
      ...documents.runs,
    },
    steps: {
      claim: async (input) =>
        change(data, input.writer.sessionId, (session) => claim(session, input)),
      commit: async (input) => {
        const chunks = toCheckedJson(input.chunks);
        if (input.calls.some(isQuestion)) await noteAsking(input.writer.sessionId);
        return change(data, input.writer.sessionId, (session, context) =>
          commit(session, input, chunks, context),
        );
      },
      discard: async (input) =>
        change(data, input.writer.sessionId, (session) => discard(session, input)),
      takeOver: async (input) =>
        change(data, input.sessionId, (session) => takeOver(session, input)),
    },
    calls: {
      start: async (input) =>
        change(data, input.writer.sessionId, (session, context) =>
          startCall(session, input, context),
        ),
      settle: async (input) => {
        const chunks = toSettlingJson(input.row, input.chunks);
        const sessionId = input.source === 'tool' ? input.writer.sessionId : input.sessionId;
        return change(data, sessionId, (session, context) =>
          settleCall(session, input, chunks, context),
        );
      },
      extendDeadline: async (input) =>
        change(data, input.sessionId, (session, context) =>
          extendDeadline(session, input, context),
        ),
      lease: async (input) =>
        change(data, input.sessionId, (session, context) => leaseCall(session, input, context)),
      takeId: async (sessionId, call, wanted) =>
        change(data, sessionId, (session) => takeCallId(session, call, wanted)),
      read: reads.readCall,
      readSubAgentIds: reads.readSubAgentCallIds,
      ...documents.calls,
    },
    queue: {
      begin: async (input) =>
        change(data, input.sessionId, (session, context) => beginQueued(session, input, context)),
      edit: async (input) => change(data, input.sessionId, (session) => editQueued(session, input)),
      remove: async (input) =>
        change(data, input.sessionId, (session, context) => removeQueued(session, input, context)),
      read: reads.readQueue,
    },
    documents: documents.documents,
    checkpoints: documents.checkpoints,
    staging: documents.staging,
    waiting,
    due,
  };
}
