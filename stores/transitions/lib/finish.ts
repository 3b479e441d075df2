import { byteLength, cjson, redis } from './host.js';
import { ownChunk, speakerOf, type Speaker } from './chunks.js';
import { noteDeadline } from './deadlines.js';
import { armExpiry } from './expiry.js';
import { field, int, nullable, optional, stored, text } from './json.js';
import { dropPages } from './kept-pages.js';
import { write, writeControl, type Log } from './log.js';
import { queueSteering } from './queue.js';
import { noteEndOfStep } from './places.js';
import { dropFields, num, readRoot, setFields, type Root } from './root.js';
import { isConversation, type Session } from './session.js';
import { closeCalls, pushReply, addResults, type SettlingCode } from './settling.js';
import { countStored } from './size.js';
import { NOTHING, sumOf } from './usage.js';
import { sessionsBelow, type Found } from './walk.js';

export type TerminalStatus = 'completed' | 'failed' | 'interrupted' | 'aborted';

/** How a run ends. */
export interface Ending {
  status: TerminalStatus;
  /** A RunError as JSON; '' if the run did not fail. */
  error: string;
  /** Reason given with a stop. */
  reason: string | undefined;
  /** The code with which open calls are settled. */
  code: SettlingCode;
}

interface RunError {
  code: string;
  message: string;
  retryable: boolean;
}

interface StopRecord {
  mode: 'interrupt' | 'abort';
  reason?: string;
  by?: string;
}

export function readStop(stop: string | undefined): StopRecord | undefined {
  return stop === undefined ? undefined : (cjson.decode(stop) as StopRecord);
}

/** The ending that a stop record requests. */
export function endingOfStop(stop: string): Ending {
  const { mode, reason } = cjson.decode(stop) as StopRecord;
  const status = mode === 'abort' ? 'aborted' : 'interrupted';
  return { status, error: '', reason, code: 'run_stopped' };
}

/**
 * Ends a run: run, session and stream become terminal together, and expiry is armed. Active
 * sub-agents end with it. When the run of a sub-agent ends, the parent learns of it from the result
 * of its call.
 *
 * @returns true if messages wait for their turn
 */
export function finish(session: Session, log: Log, speaker: Speaker, input: Ending): boolean {
  const ending = withError(input);
  const hasCalls = redis.call('LLEN', session.order) > 0;
  if (hasCalls) {
    endSubAgents(session, log, speaker, ending);
    closeCalls(session, log, speaker, ending.code);
    addResults(session);
  }
  // Usage is complete now that all calls are settled.
  const root = readRoot(session, RUN_FIELDS);
  const place =
    `{"role":"assistant","messageId":${text(root.messageId ?? '')},"runId":${text(root.run ?? '')}` +
    `,"step":${stored(root.committed)},"display":true,"parts":[]`;
  const result = field('output', root.output) + field('outputRef', optional(root.outputRef));
  if (result !== '') {
    write(log, ownChunk(speaker, 'output', result.slice(1)));
    const row = `${place}${result}}`;
    redis.call('RPUSH', session.rows, row);
    countStored(session, byteLength(row));
  }
  if (!isConversation(session)) {
    dropFields(session.conversation, [`wake:${session.part}`]);
    closeRun(session, root, speaker.now, ending, []);
    noteDeadline(session);
    return false;
  }
  // A turn that ends before the model's first word gets an empty reply: pages show one, and a following
  // turn does not take its place.
  if (ending.status !== 'completed' && root.replied !== root.turn) {
    pushReply(session, root, `${place}}`);
  }
  noteEndOfStep(session, root.checkpoint, log.seq);
  const failure = writeEnd(log, speaker, ending, root.run, root.checkpoint);
  const end = `"status":"${ending.status}"${field('error', optional(failure))}`;
  const final =
    field('finalOutput', root.output) + field('finalOutputRef', optional(root.outputRef));
  const of = `"streamId":${text(speaker.agentId)},"timestamp":${int(speaker.now)}`;
  writeControl(log, `{"type":"stream_end",${of},${end}${final}}`);
  const hasFailed = ending.status === 'failed' || ending.status === 'aborted';
  closeRun(session, root, speaker.now, ending, ['stream', hasFailed ? 'failed' : 'ended']);
  if (redis.call('LLEN', session.queue) === 0) {
    armExpiry(session, true);
    return false;
  }
  queueSteering(session);
  return true;
}

/** An aborted run stores the text that viewers get, so that a page loaded later shows the same. */
function withError(ending: Ending): Ending {
  const { status, error, reason, code } = ending;
  const isBroken = status === 'failed' || status === 'aborted';
  return error === '' && isBroken ? { status, error: ABORTED, reason, code } : ending;
}

/** Ends sub-agents, the deepest first. */
function endSubAgents(session: Session, log: Log, speaker: Speaker, ending: Ending): void {
  const below = sessionsBelow(session);
  for (let at = below.length - 1; at > 0; at -= 1) {
    const { session: child } = below[at] as Found;
    const { agent, committed } = readRoot(child, ['agent', 'committed']);
    const own = speakerOf(child, agent, committed, speaker.now);
    closeCalls(child, log, own, ending.code);
    addResults(child);
    const status = ending.status === 'completed' ? 'interrupted' : ending.status;
    const { reason, code } = ending;
    const ended = { status, error: '', reason, code };
    closeRun(child, readRoot(child, RUN_FIELDS), speaker.now, ended, []);
    dropFields(session.conversation, [`wake:${child.part}`]);
  }
}

/** Writes the chunks that tell viewers why the stream ends; returns the error text of a failure. */
function writeEnd(
  log: Log,
  speaker: Speaker,
  { status, error, reason }: Ending,
  run: string | undefined,
  checkpoint: string | undefined,
): string | undefined {
  if (status === 'interrupted') {
    const from = `"runId":${text(run ?? '')},"checkpointId":${nullable(checkpoint)}`;
    write(log, ownChunk(speaker, 'run_interrupted', from + field('reason', optional(reason))));
    return undefined;
  }
  if (status === 'completed') return undefined;
  const { code, message, retryable } = cjson.decode(error) as RunError;
  const what = `"code":${text(code)}`;
  const detail = `{"message":${text(message)},${what},"retryable":${retryable ? 'true' : 'false'}}`;
  const body = `"error":${text(message)},${what},"recoverable":false,"errorDetail":${detail}`;
  write(log, ownChunk(speaker, 'error', body));
  return message;
}
const ABORTED = '{"code":"framework_cancelled","message":"The run was aborted.","retryable":false}';

const RUN_FIELDS = [
  'run',
  'turn',
  'status',
  'stop',
  'checkpoint',
  'committed',
  'claimed',
  'turnSeq',
  'started',
  'usage',
  'spent',
  'finishReason',
  'mode',
  'by',
  'turnRow',
  'messageId',
  'replied',
  'output',
  'outputRef',
  'controls',
  'resume',
  'taken',
  'release',
  'deadline',
  'waitsUntil',
] as const;
type EndingRun = Root<(typeof RUN_FIELDS)[number]>;

/**
 * Stores how the run of this session ended and clears what belonged to its active state. @param
 * alongside further fields of the root
 */
function closeRun(
  session: Session,
  root: EndingRun,
  now: number,
  { status, error, reason }: Ending,
  alongside: readonly string[],
): void {
  if (root.status === 'starting' && root.waitsUntil !== undefined) {
    // It ends while it waits for its time: that was no work.
    setFields(session, ['started', int(now)]);
  }
  setFields(session, ['status', status, 'updated', int(now)]);
  setFields(session, alongside);
  if (isConversation(session) && root.mode !== 'branch') {
    // Six numbers of usage, and the number of runs.
    setFields(session, ['spent', sumOf(`${root.usage ?? NOTHING} 1`, root.spent)]);
  }
  if (error !== '') setFields(session, ['error', error]);
  const run = text(root.run ?? '');
  if (status === 'interrupted' || status === 'aborted') {
    const by = readStop(root.stop)?.by;
    const how = `"mode":"${status === 'aborted' ? 'abort' : 'interrupt'}"`;
    const why = field('reason', optional(reason)) + field('by', optional(by));
    const when = `"at":${int(now)},"checkpointId":${nullable(root.checkpoint)}`;
    setFields(session, ['interrupted', `{"runId":${run},${how}${why},${when}}`]);
  }
  noteOpenStep(session, root.claimed, root.committed);
  dropFields(session, ['stop', 'resume', 'taken', 'release', 'deadline', 'waitsUntil']);
  redis.call('UNLINK', session.busy, session.writers);
  dropPages(session);
  const what = `"turn":${stored(root.turn)},"status":"${status}","stepCount":${stored(root.committed)}`;
  const when = `"startedAt":${stored(root.started)},"endedAt":${int(now)}`;
  const place = `"startRow":${stored(root.turnRow)},"messageId":${text(root.messageId ?? '')}`;
  const more =
    field('mode', optional(root.mode)) +
    field('usage', optional(root.usage)) +
    field('finishReason', optional(root.finishReason)) +
    field('by', root.by === '' ? '' : optional(root.by)) +
    field('reason', status === 'interrupted' ? optional(reason) : '') +
    field('output', root.output) +
    field('outputRef', optional(root.outputRef)) +
    field('error', error);
  const ended = `{"runId":${run},${what},"startSequence":${stored(root.turnSeq)},${when},${place}${more}}`;
  redis.call('HSET', session.runs, root.run ?? '', ended);
}

/** Ends a run at the moment it is created: the run of a copied session. */
export function closeCopy(
  session: Session,
  now: number,
  status: 'completed' | 'interrupted',
): void {
  const ending: Ending = { status, error: '', reason: undefined, code: 'run_stopped' };
  closeRun(session, readRoot(session, RUN_FIELDS), now, ending, ['stream', 'ended']);
}

/**
 * Notes where the entries of an unfinished step begin: a run that continues the turn repeats that
 * step.
 */
function noteOpenStep(
  session: Session,
  claimed: string | undefined,
  committed: string | undefined,
): void {
  if (!isConversation(session) || num(claimed) <= num(committed)) return;
  const first = redis.call('HGET', session.writers, `f:m${stored(claimed)}`);
  if (first !== false) setFields(session, ['openSeq', first]);
}
