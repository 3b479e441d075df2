import type { CallLine, StepLine } from '../protocol/activities.js';

/** The steps of a run's legs as a Markdown table; nothing without steps. */
export function toStepTable(steps: readonly StepLine[]): string[] {
  if (steps.length === 0) return [];
  const rows = steps.map(({ step, model = '', ms, input, output, calls = [], more }) => {
    const tokens = input === undefined && output === undefined ? '' : `${n(input)} / ${n(output)}`;
    const named = calls.map(toCell);
    if (more !== undefined) named.push(`${String(more)} more`);
    return `| ${String(step)} | ${model} | ${n(ms)} | ${tokens} | ${named.join('<br>')} |`;
  });
  const head = ['| Step | Model | ms | Tokens in / out | Calls |', '|---|---|---|---|---|'];
  return [[...head, ...rows].join('\n')];
}

function toCell({ tool, ms, outcome }: CallLine): string {
  return `\`${tool}\` ${String(ms)} ms: ${outcome}`;
}

function n(value: number | undefined): string {
  return value === undefined ? '' : String(value);
}
