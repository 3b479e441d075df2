import { byteLength, redis } from './lib/host.js';
import { releaseWriter } from './lib/attempts.js';
import { hasUnsettled } from './lib/calls.js';
import { finish, readStop, type TerminalStatus } from './lib/finish.js';
import { int, text } from './lib/json.js';
import { dropPages } from './lib/kept-pages.js';
import { closeLog, openLog, writeAll } from './lib/log.js';
import { openCalls, type NewCallRequest } from './lib/open-calls.js';
import { doneOrSuperseded } from './lib/outcome.js';
import { restIfWaiting } from './lib/pause.js';
import { steeringWaits } from './lib/queue.js';
import { contentAt, only, type Content } from './lib/request.js';
import { isTerminal, num, readRoot, seqOf, setFields } from './lib/root.js';
import { idOf, type Session } from './lib/session.js';
import { countStored } from './lib/size.js';
import { pushReply, type SettlingCode } from './lib/settling.js';
import { stateOfTurn } from './lib/state.js';
import { addUsage } from './lib/usage.js';

export interface CommitRequest {
  runId: string;
  /** Of the writer. */
  name: string;
  token: number;
  agentType: string;
  step: number;
  now: number;
  /** Highest sequence that the writer has seen. */
  known: number;
  row?: Content;
  outcome: Content;
  checkpointId: string;
  /** True if this commit was made because of a stop. */
  answersStop: boolean;
  /** Status of the run if it ends with this step, and the code for calls that are still open. */
  status?: TerminalStatus;
  error?: Content;
  code: SettlingCode;
  /** Six numbers, see lib/usage; '' if unknown. */
  usage: string;
  /** The model's name, for the owner's usage. */
  model?: string;
  finishReason?: string;
  /**
   * The result that the model submitted: inline, or for a large one its text and the field that
   * stores it.
   */
  output?: Content;
  outputRef?: string;
  outputText?: Content;
  /** Number of the first argument with a chunk, and the number of chunks. */
  chunks: Content;
  chunkCount: number;
  calls: NewCallRequest[];
}

export const COMMIT_FIELDS = [
  'layout',
  'run',
  'status',
  'stream',
  'seq',
  'stop',
  'committed',
  'stateV',
  'turnV',
  'keptV',
  'turn',
  'replied',
  'uiCount',
  'bytes',
  'logBytes',
  'usage',
] as const;

/**
 * commit: stores the reply of a step, opens its calls and writes the checkpoint. If nothing is left
 * that could progress without a person, it also pauses the run; if `status` is set, it ends the
 * run, unless a steering message waits for the next step.
 *
 * Checks, in this order: the step is committed (returns its outcome) · the store is older than what
 * the writer has seen · the run is the newest and active · a stop record, unless this commit
 * answers it · fence: the token owns the writer and this is the next step.
 *
 * @returns `committed` with the sequence, `paused` and what follows · `steered` · `done` or
 * `superseded` · `rewound` · `stopped` · `fenced`
 */
export function commit(session: Session, request: CommitRequest, args: readonly string[]): string {
  const { runId, name, token, step, now } = request;
  const root = readRoot(session, COMMIT_FIELDS);
  const seq = seqOf(session);
  const committed = num(root.committed);
  if (root.run === runId && committed >= step) return doneOrSuperseded(session);
  if (num(seq) < request.known) return only('rewound');
  if (root.run !== runId) return only('superseded');
  const hasEnded = isTerminal(root.status);
  if (root.stop !== undefined && !request.answersStop && !hasEnded) {
    return `{"kind":"stopped","stop":${root.stop}}`;
  }
  if (hasEnded) return only('superseded');
  const owner = redis.call('HGET', session.writers, `t:${name}`);
  if (owner === false || num(owner) !== token || committed !== step - 1) return only('fenced');
  const reason = readStop(root.stop)?.reason;

  const log = openLog(session, seq);
  const { row } = request;
  const reply = row === undefined ? undefined : pushReply(session, root, contentAt(args, row));
  const chunks: string[] = [];
  for (let at = 0; at < request.chunkCount; at += 1) {
    chunks.push(args[request.chunks + at] as string);
  }
  writeAll(log, chunks, name);
  const isBusy = openCalls(session, request.calls, args);
  const rows = reply ?? redis.call('LLEN', session.rows);
  const checkpoint =
    `{"id":${text(request.checkpointId)},"runId":${text(runId)},"stepCount":${int(step)}` +
    `,"messageCount":${int(rows)},"streamSequence":${int(log.seq)}` +
    `,"timestamp":${int(now)},"stateVersion":${root.stateV ?? '0'}}`;
  const count = redis.call('RPUSH', session.checkpoints, checkpoint);
  redis.call('HSET', session.places, `c:${request.checkpointId}`, int(count - 1));
  const steers = request.status === 'completed' && steeringWaits(session) && !hasUnsettled(session);
  const outcome = steers
    ? `{"kind":"calls","step":${int(step)},"calls":[]}`
    : contentAt(args, request.outcome);
  setFields(session, ['committed', int(step), 'outcome', outcome, 'updated', int(now)]);
  setFields(session, ['checkpoint', request.checkpointId, 'checkpointV', root.stateV ?? '0']);
  if (request.finishReason !== undefined) {
    setFields(session, ['finishReason', request.finishReason]);
  }
  setFields(session, stateOfTurn(session, root));
  addUsage(session, request.usage);
  if (request.model !== undefined) setFields(session, ['model', request.model]);
  if (!steers) keepOutput(session, request, args);
  let paused = false;
  let next = false;
  if (request.status !== undefined && !steers) {
    const { status, code } = request;
    const speaker = { agentId: idOf(session), agentType: request.agentType, step, now };
    const error = contentAt(args, request.error);
    next = finish(session, log, speaker, { status, error, reason, code });
  } else {
    redis.call('SREM', session.busy, 'model');
    releaseWriter(session, name);
    dropPages(session);
    paused = !steers && !isBusy && restIfWaiting(session, log, now);
  }
  closeLog(log);
  if (steers) return `{"kind":"steered","sequence":${int(log.seq)}}`;
  const rests = `"paused":${paused ? 'true' : 'false'}${next ? ',"next":true' : ''}`;
  return `{"kind":"committed","sequence":${int(log.seq)},${rests}}`;
}

/** Stores the output of the run; a large output is stored separately. */
function keepOutput(session: Session, request: CommitRequest, args: readonly string[]): void {
  const { output, outputRef, outputText } = request;
  if (output !== undefined) setFields(session, ['output', contentAt(args, output)]);
  if (outputRef === undefined) return;
  setFields(session, ['outputRef', outputRef]);
  const kept = contentAt(args, outputText);
  redis.call('HSET', session.results, outputRef, kept);
  countStored(session, byteLength(kept));
}
