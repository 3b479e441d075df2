import { redis } from './lib/host.js';
import { contentAt, only, type Content } from './lib/request.js';
import { isLive, readRoot } from './lib/root.js';
import type { Session } from './lib/session.js';

export interface PinToolsRequest {
  runId: string;
  /** The tools as JSON; absent to read only. */
  tools?: Content;
}

/**
 * pin tools: the first list of tools that servers offered to a run is the one that the run keeps. It
 * goes with the run's writers when the run ends.
 *
 * @returns `superseded`, the run is not active · `pinned` with the list that counts · `none`
 */
export function pinTools(
  session: Session,
  { runId, tools }: PinToolsRequest,
  args: readonly string[],
): string {
  const { run, status } = readRoot(session, ['run', 'status']);
  if (run !== runId || !isLive(status)) return only('superseded');
  const pinned = redis.call('HGET', session.writers, 'tools');
  if (pinned !== false) return answer(pinned);
  const given = contentAt(args, tools);
  if (given === '') return only('none');
  redis.call('HSET', session.writers, 'tools', given);
  return answer(given);
}

function answer(tools: string): string {
  return `{"kind":"pinned","tools":${tools}}`;
}
