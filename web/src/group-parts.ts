import { getToolName, isToolUIPart, type UIMessage } from 'ai';
import { toCustomerQuestion } from './customer-question.js';
import type { ToolNames } from './tool-names.js';
import { toolCardState, type ToolPart } from './tool-state.js';

type Part = UIMessage['parts'][number];

/** Message parts in order; consecutive finished calls form one group. */
export type PartGroup =
  { kind: 'part'; key: number; part: Part } | { kind: 'used'; key: number; calls: ToolPart[] };

/** Groups finished calls that need no attention, across steps. */
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

/** Returns false for calls that people decided and for sub-agents; those stay visible. */
function isFinished(part: ToolPart, agentOf: ToolNames['agentOf']): boolean {
  const name = getToolName(part);
  return (
    toolCardState(part) === 'done' &&
    part.approval === undefined &&
    agentOf(name) === undefined &&
    toCustomerQuestion(name, part.input) === undefined
  );
}
