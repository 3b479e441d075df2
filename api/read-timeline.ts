import { rootOf, sessionOfRun } from '../protocol/ids.js';
import type { AssistantPart, Row, ToolRow } from '../protocol/rows.js';
import type { OperatorStep, OperatorTimeline, TimelineSpan } from '../protocol/timeline.js';
import type { RunInfo } from '../stores/contract/runs.js';
import type { RouteDeps } from './deps.js';
import { createTimelineFold, type FoldedSpan, type TimelineFold } from './fold-timeline.js';

/** Entries of the log that one timeline reads at most, and at a time. */
const MOST = 20_000;
const PAGE = 500;
/** Text of the user's that is shown with a step. */
const PROMPT_CHARS = 4_000;
/** Spans of one timeline. */
const MOST_SPANS = 2_000;

type Deps = Pick<RouteDeps, 'stateStore' | 'streamManager'>;

/**
 * What a run did and when, as the log of its conversation has it; sub-agents write into the log of
 * their root. Undefined if there is no such run.
 */
export async function readTimeline(
  deps: Deps,
  runId: string,
): Promise<OperatorTimeline | undefined> {
  const sessionId = sessionOfRun(runId);
  const root = rootOf(sessionId);
  const run = await findRun(deps, sessionId, runId);
  if (run === undefined) return undefined;
  const outer = root === sessionId ? run : await runDuring(deps, root, run);
  const { startedAt, endedAt } = run;
  const base = { runId, startedAt, ...(endedAt !== undefined && { endedAt }), now: Date.now() };
  if (outer === undefined || outer.rewound === true) return { ...base, spans: [], isWhole: false };

  const fold = createTimelineFold({
    runId: outer.runId,
    startedAt: outer.startedAt,
    continues: outer.mode === 'continue' || outer.mode === 'with_confirmation',
  });
  const isRead = await foldLog(deps, root, outer, fold);
  const own = fold.spans().filter((span) => root === sessionId || span.sessionId === sessionId);
  const shown = own.slice(0, MOST_SPANS);
  return {
    ...base,
    spans: await nameRuns(deps, outer.runId, shown),
    isWhole:
      isRead && shown.length === own.length && (fold.hasEnded() || outer.endedAt === undefined),
  };
}

/** Returns false if the log is longer than what one timeline reads, or is gone. */
async function foldLog(
  { stateStore: { runs }, streamManager }: Deps,
  root: string,
  { startSequence }: RunInfo,
  fold: TimelineFold,
): Promise<boolean> {
  // What later turns wrote is another run's, also if this turn was trimmed.
  const later = (await runs.list(root)).map((run) => run.startSequence);
  const end = Math.min(...later.filter((sequence) => sequence > startSequence));
  let at = startSequence;
  for (let count = 0; count < MOST; count += PAGE) {
    const entries = await streamManager.read(root, at, PAGE);
    const own = entries.filter(({ sequence }) => sequence <= end);
    for (const entry of own) fold.add(entry);
    const last = own.at(-1);
    if (last === undefined) return count > 0;
    at = last.sequence;
    if (fold.hasEnded() || own.length < PAGE) return true;
  }
  return false;
}

async function findRun(
  { stateStore: { runs, sessions } }: Deps,
  sessionId: string,
  runId: string,
): Promise<RunInfo | undefined> {
  if ((await sessions.read(sessionId)) === undefined) return undefined;
  return (await runs.list(sessionId)).find((run) => run.runId === runId);
}

/** The run of the conversation that was active when its sub-agent's run began. */
async function runDuring(
  { stateStore: { runs } }: Deps,
  root: string,
  { startedAt }: RunInfo,
): Promise<RunInfo | undefined> {
  return (await runs.list(root)).findLast((run) => run.startedAt <= startedAt);
}

async function nameRuns(
  { stateStore: { sessions } }: Deps,
  runId: string,
  spans: readonly FoldedSpan[],
): Promise<TimelineSpan[]> {
  const own = sessionOfRun(runId);
  const others = new Set(spans.map(({ sessionId }) => sessionId).filter((id) => id !== own));
  const names = new Map([[own, runId]]);
  await Promise.all(
    [...others].map(async (sessionId) => {
      names.set(sessionId, (await sessions.read(sessionId))?.runId ?? runId);
    }),
  );
  return spans.map(({ sessionId, ...span }) => ({ ...span, runId: names.get(sessionId) ?? runId }));
}

/** What one step of a run wrote and called; undefined if the run has no such step any more. */
export async function readStep(
  deps: Deps,
  runId: string,
  step: number,
): Promise<OperatorStep | undefined> {
  const sessionId = sessionOfRun(runId);
  const run = await findRun(deps, sessionId, runId);
  const { sessions } = deps.stateStore;
  const found = run && (await sessions.withCalls(sessionId));
  if (run === undefined || found === undefined || run.rewound === true) return undefined;
  const rows = await sessions.rows(sessionId, run.startRow, await endOfTurn(deps, sessionId, run));
  const row = rows.find(
    (each) =>
      each.role === 'assistant' && each.runId === runId && each.step === step && !each.display,
  );
  if (row?.role !== 'assistant') return undefined;
  const settled = found.openCalls.flatMap(({ row: result }) => (result ? [result] : []));
  const results = new Map([...rows, ...settled].flatMap(toResult));
  const texts = (type: 'text' | 'reasoning'): string =>
    row.parts.flatMap((part) => (part.type === type ? part.text : [])).join('');
  return {
    step,
    agent: found.record.agent,
    prompt: toPrompt(rows),
    text: texts('text'),
    reasoning: texts('reasoning'),
    calls: row.parts.flatMap((part) => (part.type === 'tool-call' ? toCall(part, results) : [])),
  };
}

/** Where the rows of later turns begin; undefined for the newest turn. */
async function endOfTurn(
  { stateStore: { runs } }: Deps,
  sessionId: string,
  { turn }: RunInfo,
): Promise<number | undefined> {
  const later = (await runs.list(sessionId)).filter(
    (run) => run.turn > turn && run.rewound !== true,
  );
  return later.length === 0 ? undefined : Math.min(...later.map(({ startRow }) => startRow));
}

function toPrompt(rows: readonly Row[]): string {
  const texts = rows.flatMap((row) =>
    row.role === 'user' && row.hidden !== true
      ? row.parts.flatMap((part) => (part.type === 'text' ? part.text : []))
      : [],
  );
  return texts.join('\n').slice(0, PROMPT_CHARS).toWellFormed();
}

function toResult(row: Row): [string, ToolRow][] {
  return row.role === 'tool' ? [[row.toolCallId, row]] : [];
}

function toCall(
  { toolCallId, toolName, input }: Extract<AssistantPart, { type: 'tool-call' }>,
  results: ReadonlyMap<string, ToolRow>,
): OperatorStep['calls'] {
  const { output, error, denied, decision } = results.get(toolCallId) ?? {};
  const changed = decision?.input;
  return [
    {
      toolCallId,
      toolName,
      input,
      ...(changed !== undefined && { changedInput: changed }),
      ...(output !== undefined && { output }),
      ...(denied === true && { error: decision?.reason ?? 'Denied.' }),
      ...(error !== undefined && { error }),
    },
  ];
}
