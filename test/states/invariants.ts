import { isTerminal } from '../../protocol/run.js';
import { recordOf, type StoredSession, type World } from './world.js';

/** What must hold after every event; the text says what does not. */
export function findFault(world: World): string | undefined {
  const session = recordOf(world);
  if (session === undefined) return undefined;
  return findUnpaired(session) ?? findEndings(session);
}

function hasEnded({ record }: StoredSession): boolean {
  return isTerminal(record.run.status);
}

/** Each call has exactly one result, before the model or the person says anything more. */
function findUnpaired(session: StoredSession): string | undefined {
  let open = new Set<string>();
  for (const row of session.rows) {
    // A question of a tool, and its answer, which the model does not see.
    if ('display' in row) continue;
    if (row.role === 'tool') {
      if (!open.delete(row.toolCallId)) return `a result of ${row.toolCallId} without its call`;
      continue;
    }
    if (open.size > 0) return `${[...open].join(', ')} has no result before the next message`;
    if (row.role !== 'assistant') continue;
    open = new Set(
      row.parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : [])),
    );
  }
  if (hasEnded(session)) {
    return open.size > 0 ? `${[...open].join(', ')} has no result after the end` : undefined;
  }
  const known = new Set(session.calls);
  const missing = [...open].find((id) => !known.has(id));
  return missing && `${missing} is neither open nor settled`;
}

/** The log has one end for each run that has ended, and no end for other runs. */
function findEndings(session: StoredSession): string | undefined {
  const { record, log, endedRuns } = session;
  const ends = log.filter(({ type }) => type === 'stream_end').length;
  if (ends !== endedRuns) {
    return `${String(ends)} ends in the log of ${String(endedRuns)} ended runs`;
  }
  const isNewestEnded = endedRuns === record.run.n;
  return hasEnded(session) === isNewestEnded ? undefined : `the newest run is ${record.run.status}`;
}
