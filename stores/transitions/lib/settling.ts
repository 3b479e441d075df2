import { byteLength, redis } from './host.js';
import { conversationSpeaker, ownChunk, type Speaker } from './chunks.js';
import { undoPatches, withEvents } from './call-events.js';
import { expireChild } from './expiry.js';
import { fieldsOf, readCall, readCalls } from './calls.js';
import { field, int, text } from './json.js';
import { journalFields } from './journal.js';
import { noteHidden } from './messages.js';
import { write, type Log } from './log.js';
import { addToField, num, readField, setFields } from './root.js';
import { forDisplay } from './rows.js';
import { isConversation, sessionAt, type Session } from './session.js';
import { SETTLED_TEXTS } from './settled-texts.js';
import { countStored, sizeOf } from './size.js';
import { addUsage } from './usage.js';

export type SettlingCode = keyof typeof SETTLED_TEXTS;
/** Of a tool that had recorded steps and waited. */
const PARTIAL_TEXT = 'It had begun and was waiting; the steps that it has recorded took effect.';

/** True for what tools wait for without asking people: no message shows it. */
export function isUnseen(kind: string | undefined): boolean {
  return kind === 'timer' || kind === 'webhook';
}

/** Stores the one result of a call; the usage of its sub-agent counts for this run as well. */
export function settleRow(session: Session, id: string, row: string): void {
  const child = redis.call('HGET', session.calls, `child:${id}`);
  if (child !== false) {
    addUsage(session, readField(sessionAt(session, child), 'usage'));
    expireChild(sessionAt(session, child));
  }
  redis.call('HSET', session.calls, `state:${id}`, 'settled', `row:${id}`, row);
  redis.call('SREM', session.busy, id);
}

/**
 * The agent that reports a call: what people were asked for a sub-agent is shown in the
 * conversation's message.
 */
export function speakerFor(session: Session, asked: string | undefined, speaker: Speaker): Speaker {
  if (isConversation(session) || asked === undefined) return speaker;
  return conversationSpeaker(session, speaker.agentType, speaker.now);
}

/** Settles a call with a code instead of a result. */
export function settleByCode(
  session: Session,
  log: Log,
  speaker: Speaker,
  id: string,
  code: SettlingCode,
): void {
  const names = ['name', 'kind', 'state', 'decision', 'automatic', 'ask', 'asked'] as const;
  const call = readCall(session, id, [...names, 'ops']);
  if (code === 'tool_outcome_unknown') undoPatches(session, log, speaker, id);
  const which = `"toolCallId":${text(id)},"toolName":${text(call.name ?? '')}`;
  const isPartial = call.ops !== undefined && code !== 'tool_outcome_unknown';
  const sentence = isPartial ? `${SETTLED_TEXTS[code]} ${PARTIAL_TEXT}` : SETTLED_TEXTS[code];
  const why = `"error":${text(sentence)},"errorCode":"${code}"`;
  const decision = field('decision', call.decision ?? call.automatic);
  const row = `{"role":"tool",${which},${why}${decision}}`;
  const mayHaveEvents = call.state === 'started' || call.ops !== undefined;
  settleRow(session, id, mayHaveEvents ? withEvents(session, id, row) : row);
  // A call that was never shown to people needs no end.
  if (isUnseen(call.kind)) return;
  if (call.ask !== undefined) return;
  const isServers = call.kind === 'server' || call.kind === 'subagent';
  const end = `${which},"result":null,${why}${isServers ? ',"providerExecuted":true' : ''}`;
  write(log, ownChunk(speakerFor(session, call.asked, speaker), 'tool_end', end));
}

/** Settles all open calls: started ones as outcome unknown, the others with the code. */
export function closeCalls(session: Session, log: Log, speaker: Speaker, code: SettlingCode): void {
  for (const { id, state } of readCalls(session, ['state'])) {
    if (state === 'started') {
      settleByCode(session, log, speaker, id, 'tool_outcome_unknown');
    } else if (state !== 'settled') {
      settleByCode(session, log, speaker, id, code);
    }
  }
}

/**
 * Moves the results of settled calls into the transcript, in the order of the calls. Results that
 * people gave to a sub-agent are also kept in the conversation's history.
 */
export function addResults(session: Session): void {
  const ids = redis.call('LRANGE', session.order, '0', '-1');
  if (ids.length === 0) return;
  let at = redis.call('LLEN', session.rows);
  let bytes = 0;
  for (const id of ids) {
    const call = readCall(session, id, ['row', 'late', 'asked', 'kind', 'name', 'of', 'ops']);
    const row = call.row as string;
    redis.call('HDEL', session.calls, ...fieldsOf(id), ...journalFields(id, num(call.ops)));
    // The model does not learn what its tool waited for; people see what they were asked.
    const isWait = call.of !== undefined;
    if (!isWait) {
      redis.call('RPUSH', session.rows, row);
      bytes += byteLength(row);
    }
    if (call.late === '1') {
      const lapsed = `${call.kind as string} ${call.name as string}`;
      redis.call('HSET', session.calls, `lapsed:${id}`, lapsed, `lapsedAt:${id}`, int(at));
    }
    const isAbove = isWait || !isConversation(session);
    if (isAbove && call.asked !== undefined && !isUnseen(call.kind)) {
      const shown = forDisplay(row);
      redis.call('RPUSH', session.conversation.rows, shown);
      countStored(session.conversation, byteLength(shown));
    }
    at = redis.call('LLEN', session.rows);
  }
  countStored(session, bytes);
  redis.call('SADD', session.settled, ...ids);
  redis.call('UNLINK', session.order);
}

/** Moves notes about late answers into the transcript. */
export function addNotices(session: Session): void {
  const rows = redis.call('LRANGE', session.notices, '0', '-1');
  if (rows.length === 0) return;
  redis.call('RPUSH', session.rows, ...rows);
  countStored(session, sizeOf(rows));
  redis.call('UNLINK', session.notices);
  noteHidden(session);
}

/** Adds a reply's row; the first one of a turn makes a new visible message. @returns how many rows there are */
export function pushReply(
  session: Session,
  { replied, turn }: { replied: string | undefined; turn: string | undefined },
  row: string,
): number {
  const rows = redis.call('RPUSH', session.rows, row);
  countStored(session, byteLength(row));
  if (replied === turn) return rows;
  setFields(session, ['replied', turn as string]);
  addToField(session, 'uiCount', 1);
  return rows;
}
