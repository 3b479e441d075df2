import { redis } from './lib/host.js';
import { field, text } from './lib/json.js';
import { openLog } from './lib/log.js';
import { popQueued } from './lib/queue.js';
import { only } from './lib/request.js';
import { isLive, num, readRoot } from './lib/root.js';
import type { Session } from './lib/session.js';
import { isRunOf, makeTurn, runJson, strangerOf, TURN_FIELDS } from './lib/start-run.js';

export interface BeginQueuedRequest {
  nonce: string;
  now: number;
  /** Entries that the log may have before old turns are trimmed; 0: no limit. */
  cap: number;
}

export const BEGIN_QUEUED_FIELDS = [
  'layout',
  'run',
  'status',
  'agent',
  'owner',
  'tenant',
  'seq',
  ...TURN_FIELDS,
] as const;

/**
 * begin queued: starts a run for the messages that have waited longest.
 *
 * Checks, in this order: this nonce already started a run (same reply) · no run is active · a
 * message is waiting.
 *
 * @returns `begun` with the run · `busy` · `empty`
 */
export function beginQueued(session: Session, { nonce, now, cap }: BeginQueuedRequest): string {
  const root = readRoot(session, BEGIN_QUEUED_FIELDS);
  const agent = root.agent ?? '';
  const tenant = field(
    'tenant',
    root.tenant === undefined || root.tenant === '' ? '' : text(root.tenant),
  );
  if (isRunOf(root.run, nonce)) {
    const run = {
      id: root.run ?? '',
      turn: num(root.turn),
      message: root.messageId ?? '',
      turnSeq: num(root.turnSeq),
      step: 0,
      seq: 0,
    };
    return `{"kind":"begun","run":{${runJson(session, agent, run, now)}}${tenant}}`;
  }
  if (isLive(root.status)) return only('busy');
  if (redis.call('LLEN', session.queue) === 0) return only('empty');
  const log = openLog(session, root.seq);
  const { messages, by: sender, askers } = popQueued(session);
  const by = strangerOf(sender, root.owner);
  const turn = { agent, nonce, now, cap, messages, waited: true, mode: 'new', by, askers };
  const run = runJson(session, agent, makeTurn(session, log, turn, root), now);
  return `{"kind":"begun","run":{${run}}${tenant}}`;
}
