import { defineRoute, mayReadRun, type Route } from '../../api/extension.js';
import { notFound } from '../../ai-sdk/index.js';
import type { LogEntry } from '../../protocol/chunk.js';
import { sessionOfRun } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import { OperatorEvents, OperatorEventsQuery, OperatorRunPath } from '../../protocol/operator.js';
import type { RunInfo } from '../../store/contract/runs.js';

/** Size of a page's entries as JSON. */
const PAGE_BYTES = LIMITS.answerBytes;

/** Lists a run's entries in its conversation's log, as long as the log keeps them. */
export const OPERATOR_RUN_EVENTS_ROUTE: Route = defineRoute({
  method: 'get',
  path: '/api/operator/runs/:runId/events',
  id: 'listRunEvents',
  audits: 'read',
  summary: "List the log entries of a run's turn",
  params: OperatorRunPath,
  query: OperatorEventsQuery,
  replies: { 200: { description: 'A page, oldest first.', content: { json: OperatorEvents } } },
  refusals: ['not_found'],
  entry: 'read',
  about: mayReadRun,
  handle: async ({ deps, response, query, params: { runId }, about: record }) => {
    const sessionId = sessionOfRun(runId);
    const all = await deps.stateStore.runs.list(sessionId);
    const run = all.find((each) => each.runId === runId);
    if (run === undefined) throw notFound();
    const after = Math.max(query.after, run.startSequence);
    const entries = await deps.streamManager.read(record.sessionId, after, query.limit);
    const page = cut(entries.filter(({ sequence }) => sequence <= endOf(run, all)));
    const isLast = entries.length < query.limit && page.length === entries.length;
    const last = page.at(-1)?.sequence;
    const next = isLast || last === endOf(run, all) ? undefined : last;
    const isOfSubAgent = sessionId !== record.sessionId;
    const events = isOfSubAgent
      ? page.filter(({ message }) => 'agentId' in message && message.agentId === sessionId)
      : page;
    response.json({ events, ...(next !== undefined && { next }) } satisfies OperatorEvents);
  },
});

/** Returns the entries that fit into a page, at least one. */
function cut(entries: LogEntry[]): LogEntry[] {
  let bytes = 0;
  const end = entries.findIndex(({ message }) => {
    bytes += Buffer.byteLength(JSON.stringify(message));
    return bytes > PAGE_BYTES;
  });
  return end < 0 ? entries : entries.slice(0, Math.max(1, end));
}

/** Returns the sequence of the last entry before the next turn. */
function endOf(run: RunInfo, all: readonly RunInfo[]): number {
  const later = all.filter(({ turn, startSequence }) => turn > run.turn && startSequence > 0);
  return Math.min(Infinity, ...later.map(({ startSequence }) => startSequence));
}
