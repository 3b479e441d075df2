import { speakerOf } from './lib/chunks.js';
import { endingOfStop, finish } from './lib/finish.js';
import { text } from './lib/json.js';
import { closeLog, openLog } from './lib/log.js';
import { noteAct } from './lib/outbox.js';
import { contentAt, only, type Content } from './lib/request.js';
import { isLive, readRoot } from './lib/root.js';
import { isConversation, type Session } from './lib/session.js';
import { requestStop } from './lib/stopping.js';

export interface StopTransitionRequest {
  /** The run to stop; absent: the newest one. */
  runId?: string;
  mode: 'interrupt' | 'abort';
  /** The stop record. */
  record: Content;
  now: number;
  /** The entry of the audit trail. */
  act?: Content;
}

/**
 * stop: leaves a stop record and notifies the workers. A run in which no model streams ends at
 * once; otherwise the model's step ends it. Addressed to a sub-agent, it stops the whole
 * conversation.
 *
 * Checks, in this order: a run is active · it is the requested one.
 *
 * @returns `stopping` with the run · `ended` with the run · `nothing`, no such run is active
 */
export function stop(
  session: Session,
  { runId, mode, record, now, act }: StopTransitionRequest,
  args: readonly string[],
): string {
  const current = readRoot(session, ['run', 'status']);
  if (!isLive(current.status)) return only('nothing');
  if (runId !== undefined && runId !== current.run) return only('nothing');
  const { conversation } = session;
  const root = readRoot(conversation, ['run', 'status', 'agent', 'committed', 'seq', 'tenant']);
  if (!isConversation(session) && !isLive(root.status)) return only('nothing');
  const run = root.run ?? '';
  const request = requestStop(conversation, mode, contentAt(args, record));
  const { tenant } = root;
  noteAct(session, args, act, request.isSpeaking ? 'stopping' : 'ended', { tenant, runId: run });
  if (request.isSpeaking) return `{"kind":"stopping","runId":${text(run)}}`;
  const log = openLog(conversation, root.seq);
  const speaker = speakerOf(conversation, root.agent, root.committed, now);
  const isNext = finish(conversation, log, speaker, endingOfStop(request.record));
  closeLog(log);
  const next = isNext ? ',"next":true' : '';
  const waited = request.isWaiting ? ',"waited":true' : '';
  return `{"kind":"ended","runId":${text(run)}${next}${waited}}`;
}
