import { getToolName, isToolUIPart, type UIMessage } from 'ai';
import { toCustomerQuestion } from './customer-question.js';
import type { ToolNames } from './tool-names.js';
import { toolCardState, type ToolPart } from './tool-state.js';

type Part = UIMessage['parts'][number];

/** Parts in the order of the message; finished calls that follow each other are one group. */
export type PartGroup =
  { kind: 'part'; key: number; part: Part } | { kind: 'used'; key: number; calls: ToolPart[] };

/** Puts finished calls together that need no attention, whatever step they belong to. */
export function groupParts(parts: readonly Part[], agentOf: ToolNames['agentOf']): PartGroup[] {
  const groups: PartGroup[] = [];
  for (const [key, part] of parts.entries()) {
    if (part.type === 'step-start') continue;
    const last = groups.at(-1);
    if (!isToolUIPart(part) || !isFinished(part, agentOf)) groups.push({ kind: 'part', key, part });
    else if (last?.kind === 'used') last.calls.push(part);
    else groups.push({ kind: 'used', key, calls: [part] });
  }
  return groups;
}

/** Calls that people decided, and those of other agents, stay in sight. */
function isFinished(part: ToolPart, agentOf: ToolNames['agentOf']): boolean {
  const name = getToolName(part);
  return (
    toolCardState(part) === 'done' &&
    part.approval === undefined &&
    agentOf(name) === undefined &&
    toCustomerQuestion(name, part.input) === undefined
  );
}
