import { isTerminal } from '../../protocol/run.js';
import { SESSION, type World } from './world.js';
import { fromJson } from '../../stores/memory/json.js';

/** What must hold in every world; the text says what does not. */
export function findFault(world: World): string | undefined {
  const session = world.data.sessions.get(SESSION);
  if (session === undefined) return undefined;
  return findUnpaired(world) ?? findEndings(world) ?? findRepeats(world);
}

/** Each call has exactly one result, before the model or the person says anything more. */
function findUnpaired({ data }: World): string | undefined {
  const session = data.sessions.get(SESSION);
  const rows = (session?.rows ?? []).map((row) => fromJson(row));
  let open = new Set<string>();
  for (const row of rows) {
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
  const status = session?.run?.status;
  if (status === undefined || !isTerminal(status)) {
    const missing = [...open].find((id) => !session?.calls.has(id));
    return missing && `${missing} is neither open nor settled`;
  }
  return open.size > 0 ? `${[...open].join(', ')} has no result after the end` : undefined;
}

/** The log tells of one end for each run that has ended, and of none for one that has not. */
function findEndings({ data }: World): string | undefined {
  const session = data.sessions.get(SESSION);
  const ends = session?.log.entries.filter(
    ({ message }) => fromJson(message).type === 'stream_end',
  ).length;
  const ended = session?.endedRuns.length;
  if (ends !== ended) return `${String(ends)} ends in the log of ${String(ended)} ended runs`;
  const status = session?.run?.status;
  const isOver = status !== undefined && isTerminal(status);
  if (isOver !== (ended === session?.runCount)) return `the newest run is ${String(status)}`;
  return undefined;
}

/** No call of a tool that is not idempotent is executed twice. */
function findRepeats({ executions }: World): string | undefined {
  const repeated = Object.entries(executions).find(([, times]) => times > 1);
  return repeated && `${repeated[0]} was executed ${String(repeated[1])} times`;
}
