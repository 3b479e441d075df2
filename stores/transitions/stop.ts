import { redis } from './lib/host.js';
import { speakerOf } from './lib/chunks.js';
import { endingOfStop, finish } from './lib/finish.js';
import { text } from './lib/json.js';
import { closeLog, openLog } from './lib/log.js';
import { contentAt, only, type Content } from './lib/request.js';
import { isLive, readRoot } from './lib/root.js';
import { isConversation, type Session } from './lib/session.js';
import { requestStop } from './lib/stopping.js';

export interface StopTransitionRequest {
  /** The run that is meant; the newest one when absent. */
  runId?: string;
  mode: 'interrupt' | 'abort';
  /** The stop record. */
  record: Content;
  now: number;
}

/**
 * stop: leaves a stop record and tells the workers; a run in which no model speaks ends at once. Given
 * to a sub-agent it stops the conversation.
 */
export function stop(
  session: Session,
  { runId, mode, record, now }: StopTransitionRequest,
  args: readonly string[],
): string {
  const given = readRoot(session, ['run', 'status']);
  if (!isLive(given.status)) return only('nothing');
  if (runId !== undefined && runId !== given.run) return only('nothing');
  const { conversation } = session;
  const root = readRoot(conversation, ['run', 'status', 'agent', 'committed', 'seq']);
  if (!isConversation(session) && !isLive(root.status)) return only('nothing');
  const run = root.run ?? '';
  const asked = requestStop(conversation, mode, contentAt(args, record));
  if (asked.isSpeaking) return `{"kind":"stopping","runId":${text(run)}}`;
  const log = openLog(conversation, root.seq);
  const speaker = speakerOf(conversation, root.agent, root.committed, now);
  finish(conversation, log, speaker, endingOfStop(asked.record));
  closeLog(log);
  const next = redis.call('LLEN', conversation.queue) > 0 ? ',"next":true' : '';
  const waited = asked.isWaiting ? ',"waited":true' : '';
  return `{"kind":"ended","runId":${text(run)}${next}${waited}}`;
}
