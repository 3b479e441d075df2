import { checkStreamId } from '../checked-ids.js';
import { toCheckedJson } from '../checked-messages.js';
import type { StreamLog } from '../stream-log.js';
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
      change(data, writer.sessionId, (session) => openWriter(session, writer, nonce, now)),
    closeWriter: async (writer) =>
      change(data, writer.sessionId, (session) => closeWriter(session, writer)),
    append: async (writer, batch, messages, known = 0) => {
      const checked = { writer, batch, messages: toCheckedJson(messages), known };
      return change(data, writer.sessionId, (session, context) =>
        append(session, checked, context),
      );
    },
    read: async (streamId, fromSequence, limit) => {
      const session = findSession(data, streamId);
      return session === undefined ? [] : readEntries(session.log, fromSequence, limit);
    },
    follow: (streamId, fromSequence, signal) => follow(data, streamId, fromSequence, signal),
    inspect: async (streamId) => toPosition(findSession(data, streamId)),
    mark: async (streamId, to, now) =>
      change(data, streamId, (session, context) => mark(session, to, now, context)),
    truncate: async (streamId, step, options, now) =>
      change(data, streamId, (session) => truncate(session, step, options, now)),
    onStop: async (sessionId, listener) => {
      checkStreamId(sessionId);
      // The same function may listen twice, and leave once.
      const own = (): void => {
        listener();
      };
      data.events.on(stopEvent(sessionId), own);
      return () => data.events.off(stopEvent(sessionId), own);
    },
  };
}
