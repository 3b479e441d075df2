import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import type { Row } from '../../protocol/rows.js';
import { beginningOf } from './conversation-title.js';

/** What people know a step by. */
export interface StepPreview {
  /** The beginning of what the agent wrote. */
  text?: string;
  /** Names of the tools that it called. */
  toolNames?: string[];
}

/** Names in a preview. */
const MOST_NAMES = 5;

/** The beginning of a step, from the reply that it stored; empty if that is no reply. Pure. */
export function toStepPreview(row: Row | undefined): StepPreview {
  if (row?.role !== 'assistant') return {};
  const text = beginningOf(row.parts.map((part) => (part.type === 'text' ? part.text : '')));
  const called = row.parts.flatMap((part) =>
    part.type === 'tool-call' && part.toolName !== FINISH_TOOL_NAME ? [part.toolName] : [],
  );
  const toolNames = [...new Set(called)].slice(0, MOST_NAMES);
  return { ...(text !== '' && { text }), ...(toolNames.length > 0 && { toolNames }) };
}
