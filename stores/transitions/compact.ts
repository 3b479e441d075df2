import { redis } from './lib/host.js';
import { readOwner } from './lib/attempts.js';
import { int } from './lib/json.js';
import { contentAt, only, type Content, type WriterRequest } from './lib/request.js';
import { isTerminal, readRoot } from './lib/root.js';
import type { Session } from './lib/session.js';
import { addUsage } from './lib/usage.js';

export interface CompactRequest {
  writer: WriterRequest;
  /** The compaction as JSON; absent to read only. */
  compaction?: Content;
  /** Six numbers, see lib/usage; '' if unknown. */
  usage: string;
}

/**
 * compact: keeps the summary that a step's model gets in place of the oldest rows, and counts what it
 * took. The first one of a step is the one that every attempt at the step uses. It goes with the run's
 * writers when the run ends; the row of the step has it by then.
 *
 * @returns `superseded`, the run is not active · `kept` with the compaction that counts · `none` ·
 * `fenced`
 */
export function compact(
  session: Session,
  { writer, compaction, usage }: CompactRequest,
  args: readonly string[],
): string {
  const { run, status } = readRoot(session, ['run', 'status']);
  if (run !== writer.runId || isTerminal(status)) return only('superseded');
  const step = int(writer.step);
  const [ofStep, kept] = redis.call('HMGET', session.writers, 'compactedStep', 'compaction');
  if (ofStep === step && kept !== undefined && kept !== false) return answer(kept);
  const given = contentAt(args, compaction);
  if (given === '') return only('none');
  if (readOwner(session, writer.name).token !== writer.token) return only('fenced');
  addUsage(session, usage);
  redis.call('HSET', session.writers, 'compactedStep', step, 'compaction', given);
  return answer(given);
}

function answer(compaction: string): string {
  return `{"kind":"kept","compaction":${compaction}}`;
}
