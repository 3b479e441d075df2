import { byteLength, redis } from './host.js';
import {
  readCall,
  readCallField,
  readCallsField,
  readChildRun,
  readWait,
  type ChildRun,
} from './calls.js';
import { ownChunk, speakerOf, type Speaker } from './chunks.js';
import { noteDeadline } from './deadlines.js';
import { field, int, list, optional, text, texts } from './json.js';
import { write, type Log } from './log.js';
import { readRoot, storeNow } from './root.js';
import { isConversation, sessionAt, type Session } from './session.js';
import { countStored } from './size.js';
import { sessionsBelow } from './walk.js';

type Waiting = 'waiting_approval' | 'waiting_tool' | 'waiting_children';

const PAUSE_REASON = {
  waiting_approval: 'approval',
  waiting_tool: 'client_tool',
  waiting_children: 'awaiting_children',
};

interface WaitingCall {
  id: string;
  session: Session;
}

/**
 * Pauses a session in which only people, or sub-agents that wait for people, can progress. A
 * sub-agent that pauses leaves the busy set of its parent; when the conversation itself pauses, so
 * does the stream. True if the conversation paused.
 */
export function restIfWaiting(session: Session, log: Log, now: number): boolean {
  if (redis.call('SCARD', session.busy) > 0) return false;
  const status = restingStatus(session);
  if (status === undefined) return false;
  redis.call('HSET', session.root, 'status', status);
  const { parent, parentCall, stream } = readRoot(session, ['parent', 'parentCall', 'stream']);
  if (isConversation(session)) {
    if (stream === 'paused') return false;
    pause(session, log, now, status);
    return true;
  }
  const above = sessionAt(session, parent ?? '');
  redis.call('SREM', above.busy, parentCall ?? '');
  return restIfWaiting(above, log, now);
}

/**
 * What a session waits for: people, or sub-agents that wait for people. Undefined if it can
 * continue.
 */
function restingStatus(session: Session): Waiting | undefined {
  let status: Waiting | undefined;
  for (const { id, value: state } of readCallsField(session, 'state')) {
    if (state === 'waiting') {
      if (readCallField(session, id, 'kind') === 'approval') return 'waiting_approval';
      status = 'waiting_tool';
    } else if (state === 'open' && status === undefined) {
      if (redis.call('SISMEMBER', session.busy, id) === 0) status = 'waiting_children';
    }
  }
  return status;
}

/** Pauses run, session and stream of the conversation. */
function pause(conversation: Session, log: Log, now: number, status: Waiting): void {
  const names = ['run', 'agent', 'committed', 'messageId', 'children'] as const;
  const root = readRoot(conversation, names);
  const speaker = speakerOf(conversation, root.agent, root.committed, now);
  const waiting: WaitingCall[] = [];
  const children: string[] = [];
  let hasSettled = false;
  for (const { session, states } of sessionsBelow(conversation)) {
    for (const { id, value: state } of states) {
      if (state === 'waiting') {
        waiting.push({ id, session });
      } else if (isConversation(session)) {
        if (state === 'settled') hasSettled = true;
        if (state === 'open') children.push(childJson(session, id));
      }
    }
  }
  showHeld(conversation, log, speaker, waiting, root.run ?? '', root.messageId ?? '');
  writeMarker(log, speaker, status, hasSettled, waiting, children);
  const deadline = startClocks(conversation, waiting);
  const first = waiting[0];
  const name = first === undefined ? undefined : readCallField(first.session, first.id, 'name');
  const body =
    `"runId":${text(root.run ?? '')},"reason":"${PAUSE_REASON[status]}"` +
    field('pendingToolName', optional(name)) +
    field('pendingToolCallId', optional(first?.id)) +
    field('deadline', deadline === undefined ? '' : int(deadline));
  write(log, ownChunk(speaker, 'run_paused', body));
  for (const { id, session } of waiting)
    redis.call('HSETNX', session.calls, `asked:${id}`, log.seq);
  redis.call('HSET', conversation.root, 'stream', 'paused', 'pauseSeq', log.seq);
  // Only sub-agents have wake-ups.
  if (root.children !== undefined) forgetWakes(conversation);
}

/** Wake-ups for sub-agents are obsolete once everything waits again. */
function forgetWakes(conversation: Session): void {
  const wakes: string[] = [];
  for (const name of redis.call('HKEYS', conversation.root)) {
    if (name.startsWith('wake:')) wakes.push(name);
  }
  if (wakes.length > 0) redis.call('HDEL', conversation.root, ...wakes);
}

function childJson(session: Session, id: string): string {
  const child = readChildRun(session, id) as ChildRun;
  const who = `"subSessionId":${text(child.sessionId)},"subAgentType":${text(child.agent)}`;
  return `{${who},"callId":${text(id)}}`;
}

/** Writes the marker that holds the reason for the pause; it never reaches a client. */
function writeMarker(
  log: Log,
  speaker: Speaker,
  status: Waiting,
  hasSettled: boolean,
  waiting: readonly WaitingCall[],
  children: readonly string[],
): void {
  const ids: string[] = [];
  for (const { id } of waiting) ids.push(id);
  let kind = hasSettled ? 'suspended_step_partial' : 'suspended_client_tool';
  let payload = `{"toolCallIds":${texts(ids)}}`;
  if (status === 'waiting_children') {
    kind = 'suspended_awaiting_children';
    payload = `{"children":${list(children)}}`;
  } else if (hasSettled) {
    payload = `{"toolCallIds":${texts(ids)},"stepId":"s${int(speaker.step)}"}`;
  }
  write(log, ownChunk(speaker, 'suspension_marker', `"kind":"${kind}","payload":${payload}`));
}

/** Starts the clocks of calls that pause for the first time. @returns the earliest deadline */
function startClocks(conversation: Session, waiting: readonly WaitingCall[]): number | undefined {
  let hasClock = false;
  for (const { id, session } of waiting) {
    const wait = readWait(session, id);
    if (wait === undefined) continue;
    hasClock = true;
    redis.call('HSETNX', session.calls, `deadline:${id}`, storeNow() + wait);
  }
  if (hasClock) return noteDeadline(conversation);
  redis.call('HDEL', conversation.root, 'deadline');
  return undefined;
}

/**
 * Writes the deferred requests of sub-agents, in a step of their own and as one row of the
 * conversation's history.
 */
function showHeld(
  conversation: Session,
  log: Log,
  speaker: Speaker,
  waiting: readonly WaitingCall[],
  run: string,
  messageId: string,
): void {
  const parts: string[] = [];
  let first = 0;
  const step = `"step":${int(speaker.step)}`;
  for (const { id, session } of waiting) {
    const { ask, part } = readCall(session, id, ['ask', 'part']);
    if (ask === undefined) continue;
    if (parts.length === 0) {
      write(log, ownChunk(speaker, 'step_start', '"stepId":"ask"'));
      first = log.seq;
    }
    write(log, `${ask.slice(0, -1)},${step},"timestamp":${int(speaker.now)}}`);
    parts.push(part as string);
    redis.call('HDEL', session.calls, `ask:${id}`, `part:${id}`);
  }
  if (parts.length === 0) return;
  write(log, ownChunk(speaker, 'step_end', '"stepId":"ask"'));
  const of = `"messageId":${text(messageId)},"runId":${text(run)},${step}`;
  const shown = `"sequence":${int(first)},"parts":${list(parts)}`;
  const row = `{"role":"assistant",${of},"display":true,${shown}}`;
  redis.call('RPUSH', conversation.rows, row);
  countStored(conversation, byteLength(row));
}
