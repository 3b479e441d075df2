import { checkStreamId } from '../record/checked-ids.js';
import { toCheckedJson } from '../record/checked-messages.js';
import { rootOf } from '../../protocol/ids.js';
import { NO_RUN, type StreamLog } from '../contract/log.js';
import { follow } from './follow.js';
import { readEntries } from './log.js';
import type { MemoryData } from './memory-data.js';
import { toPosition } from './position.js';
import { change, findSession, stopEvent } from './session-access.js';
import { append } from './transitions/append.js';
import { closeWriter } from './transitions/close-writer.js';
import { mark } from './transitions/mark.js';
import { openWriter } from './transitions/open-writer.js';
import { truncate } from './transitions/truncate.js';

/** The log in memory, read by position. */
export function createMemoryStreamLog(data: MemoryData): StreamLog {
  return {
    openWriter: async (writer, nonce, now) =>
      change(data, rootOf(writer.sessionId), (session) => openWriter(session, writer, nonce, now)),
    closeWriter: async (writer) =>
      change(data, rootOf(writer.sessionId), (session) => closeWriter(session, writer)),
    append: async (writer, batch, messages, known = 0) => {
      const checked = { writer, batch, messages: toCheckedJson(messages), known };
      const owner = writer.runId === NO_RUN ? rootOf(writer.sessionId) : writer.sessionId;
      return change(data, owner, (session, context) => append(session, checked, context));
    },
    read: async (streamId, fromSequence, limit) => {
      const session = findSession(data, rootOf(streamId));
      return session === undefined ? [] : readEntries(session.log, fromSequence, limit);
    },
    follow: (streamId, fromSequence, signal) =>
      follow(data, rootOf(streamId), fromSequence, signal),
    inspect: async (streamId) => toPosition(findSession(data, rootOf(streamId))),
    mark: async (streamId, to, now) =>
      change(data, rootOf(streamId), (session, context) => mark(session, to, now, context)),
    truncate: async (streamId, step, options, now) =>
      change(data, rootOf(streamId), (session) => truncate(session, step, options, now)),
    onStop: async (sessionId, listener) => {
      checkStreamId(sessionId);
      // The same function may listen twice, and leave once.
      const own = (): void => {
        listener();
      };
      const event = stopEvent(rootOf(sessionId));
      data.events.on(event, own);
      return () => data.events.off(event, own);
    },
  };
}
