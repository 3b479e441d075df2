import { byteLength, redis, toNumber } from './host.js';
import { readCall, readChildRun, type ChildRun } from './calls.js';
import { ownChunk, speakerOf, type Speaker } from './chunks.js';
import { noteEarliest } from './deadlines.js';
import { field, int, list, optional, text, texts } from './json.js';
import { write, type Log } from './log.js';
import { dropFields, readField, readRoot, setFields, storeNow, writeRoot } from './root.js';
import { isConversation, sessionAt, type Session } from './session.js';
import { isUnseen } from './settling.js';
import { countStored } from './size.js';
import { readFound, sessionsBelowCalls, type Found, type FoundCall } from './walk.js';

type Waiting = 'waiting_approval' | 'waiting_tool' | 'waiting_children';

const PAUSE_REASON = {
  waiting_approval: 'approval',
  waiting_tool: 'client_tool',
  waiting_children: 'awaiting_children',
};

/** Of a call that waits for a person. */
const WAITING = ['ask', 'part', 'name', 'wait', 'kind'] as const;

interface WaitingCall extends Record<(typeof WAITING)[number], string | undefined> {
  id: string;
  session: Session;
  /** When its clock runs out. */
  deadline: string | undefined;
  /** Sequence of the pause that asked first. */
  asked: string | undefined;
}

/**
 * Pauses a session in which only people, or sub-agents that wait for people, can progress. A
 * sub-agent that pauses leaves the busy set of its parent; when the conversation itself pauses, so
 * does the stream. True if the conversation paused.
 */
export function restIfWaiting(session: Session, log: Log, now: number): boolean {
  if (redis.call('SCARD', session.busy) > 0) return false;
  const calls = readFound(session);
  const status = restingStatus(calls);
  if (status === undefined) return false;
  setFields(session, ['status', status]);
  if (isConversation(session)) {
    if (readField(session, 'stream') === 'paused') return false;
    pause(session, log, now, status, sessionsBelowCalls(session, calls));
    return true;
  }
  const { parent, parentCall } = readRoot(session, ['parent', 'parentCall']);
  const above = sessionAt(session, parent ?? '');
  redis.call('SREM', above.busy, parentCall ?? '');
  return restIfWaiting(above, log, now);
}

/**
 * What a session waits for in which nothing is busy: people, or sub-agents that wait for people.
 * Undefined if it can continue.
 */
function restingStatus(calls: readonly FoundCall[]): Waiting | undefined {
  let status: Waiting | undefined;
  for (const { state, kind } of calls) {
    if (state === 'waiting') {
      if (kind === 'approval') return 'waiting_approval';
      status = 'waiting_tool';
    } else if (state === 'open' && status === undefined) {
      status = 'waiting_children';
    }
  }
  return status;
}

/** Pauses run, session and stream of the conversation. */
function pause(
  conversation: Session,
  log: Log,
  now: number,
  status: Waiting,
  found: readonly Found[],
): void {
  const root = readRoot(conversation, PAUSE_FIELDS);
  const speaker = speakerOf(conversation, root.agent, root.committed, now);
  const waiting: WaitingCall[] = [];
  const children: string[] = [];
  let hasSettled = false;
  for (const { session, calls } of found) {
    for (const { id, state, deadline, asked } of calls) {
      if (state === 'waiting') {
        const { ask, part, name, wait, kind: of } = readCall(session, id, WAITING);
        waiting.push({ id, session, deadline, asked, ask, part, name, wait, kind: of });
      } else if (isConversation(session)) {
        if (state === 'settled') hasSettled = true;
        if (state === 'open') children.push(childJson(session, id));
      }
    }
  }
  showHeld(conversation, log, speaker, waiting, root.run ?? '', root.messageId ?? '');
  writeMarker(log, speaker, status, hasSettled, waiting, children);
  const deadline = startClocks(conversation, waiting);
  let first: WaitingCall | undefined;
  for (const call of waiting) if (first === undefined && !isUnseen(call.kind)) first = call;
  const body =
    `"runId":${text(root.run ?? '')},"reason":"${PAUSE_REASON[status]}"` +
    field('pendingToolName', optional(first?.name)) +
    field('pendingToolCallId', optional(first?.id)) +
    field('deadline', deadline === undefined ? '' : int(deadline));
  write(log, ownChunk(speaker, 'run_paused', body));
  noteAsked(waiting, int(log.seq));
  setFields(conversation, ['stream', 'paused', 'pauseSeq', int(log.seq)]);
  // Only sub-agents have wake-ups.
  if (root.children !== undefined) forgetWakes(conversation);
}

const PAUSE_FIELDS = ['run', 'agent', 'committed', 'messageId', 'children', 'deadline'] as const;

/** Stores what the pause makes of the calls that it asks people about. */
function noteAsked(waiting: readonly WaitingCall[], sequence: string): void {
  for (const { id, session, ask, asked, deadline } of waiting) {
    const fields: string[] = [];
    if (asked === undefined) fields.push(`asked:${id}`, sequence);
    if (deadline !== undefined) fields.push(`deadline:${id}`, deadline);
    if (fields.length > 0) redis.call('HSET', session.calls, ...fields);
    if (ask !== undefined) redis.call('HDEL', session.calls, `ask:${id}`, `part:${id}`);
  }
}

/** Wake-ups for sub-agents are obsolete once everything waits again. */
function forgetWakes(conversation: Session): void {
  const wakes: `wake:${string}`[] = [];
  writeRoot(conversation);
  for (const name of redis.call('HKEYS', conversation.root)) {
    if (name.startsWith('wake:')) wakes.push(name as `wake:${string}`);
  }
  dropFields(conversation, wakes);
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
  for (const call of waiting) if (!isUnseen(call.kind)) ids.push(call.id);
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
  const deadlines: string[] = [];
  for (const call of waiting) {
    if (call.deadline === undefined) {
      const { wait = '' } = call;
      if (wait !== '') call.deadline = int(storeNow() + toNumber(wait));
    }
    if (call.deadline !== undefined) deadlines.push(call.deadline);
  }
  return noteEarliest(conversation, deadlines);
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
  for (const { ask, part } of waiting) {
    if (ask === undefined) continue;
    if (parts.length === 0) {
      write(log, ownChunk(speaker, 'step_start', '"stepId":"ask"'));
      first = log.seq;
    }
    write(log, `${ask.slice(0, -1)},${step},"timestamp":${int(speaker.now)}}`);
    parts.push(part as string);
  }
  if (parts.length === 0) return;
  write(log, ownChunk(speaker, 'step_end', '"stepId":"ask"'));
  const of = `"messageId":${text(messageId)},"runId":${text(run)},${step}`;
  const shown = `"sequence":${int(first)},"parts":${list(parts)}`;
  const row = `{"role":"assistant",${of},"display":true,${shown}}`;
  redis.call('RPUSH', conversation.rows, row);
  countStored(conversation, byteLength(row));
}
