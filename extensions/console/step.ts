import { defineRoute, mayReadRun, type Route, type RouteDeps } from '../../api/extension.js';
import { notFound } from '../../ai-sdk/index.js';
import { sessionOfRun } from '../../protocol/ids.js';
import { OperatorStep, OperatorStepPath } from '../../protocol/operator.js';
import type { AssistantPart, Row, ToolRow } from '../../protocol/rows.js';
import type { RunInfo } from '../../store/contract/runs.js';

/** Shows operators the texts, inputs and outputs of a step. */
export const OPERATOR_STEP_ROUTE: Route = defineRoute({
  method: 'get',
  path: '/api/operator/runs/:runId/steps/:step',
  id: 'getRunStep',
  audits: 'read',
  summary: 'Get what a step of a run wrote, and the inputs and outputs of its calls',
  params: OperatorStepPath,
  replies: { 200: { description: 'The step.', content: { json: OperatorStep } } },
  refusals: ['not_found'],
  entry: 'read',
  about: mayReadRun,
  handle: async ({ deps, response, params }) => {
    const step = await readStep(deps, params.runId, params.step);
    if (step === undefined) throw notFound();
    response.json(step satisfies OperatorStep);
  },
});

/** Most characters of the user's text shown with a step. */
const PROMPT_CHARS = 4_000;

type Deps = Pick<RouteDeps, 'stateStore'>;

/** Reads the texts and calls of a step; undefined if the run has no such step any more. */
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

/** Returns the row where later turns begin; undefined for the newest turn. */
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

async function findRun(
  { stateStore: { runs, sessions } }: Deps,
  sessionId: string,
  runId: string,
): Promise<RunInfo | undefined> {
  if ((await sessions.read(sessionId)) === undefined) return undefined;
  return (await runs.list(sessionId)).find((run) => run.runId === runId);
}
