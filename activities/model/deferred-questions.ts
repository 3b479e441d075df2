import type { AgentDefinition, ToolDefinition } from '../../agents/definitions.js';
import { childPartOf, rootOf } from '../../protocol/ids.js';
import type { CallToCommit } from '../../runs/record/step-chunks.js';
import { isQuestion } from '../../store/record/questions.js';

/**
 * Defers the chunks that ask people if a sub-agent of the same step may ask too, or a webhook may answer after them.
 * The pause then shows all questions in a step of their own, whatever the order of the calls: a stock client posts
 * answers once all calls of the newest step have one.
 */
export function deferQuestions(
  { tools }: AgentDefinition,
  sessionId: string,
  opened: readonly CallToCommit[],
): CallToCommit[] {
  const isChild = childPartOf(sessionId) !== '';
  const mayOutlast = isOneOf(tools.filter(mayOutlastAnswers));
  const isOutlasted = opened.some(
    ({ call: { kind, toolName, row } }) =>
      (kind === 'subagent' || kind === 'server') && row === undefined && mayOutlast(toolName),
  );
  if (!isChild && !isOutlasted) return [...opened];
  return opened.map(({ call, chunks }) => {
    const [ask, ...rest] = chunks;
    if (!isQuestion(call) || call.row !== undefined || ask === undefined) return { call, chunks };
    return { call: { ...call, ask: { ...ask, agentId: rootOf(sessionId) } }, chunks: rest };
  });
}

/**
 * Returns a test for calls that viewers see only after the step is stored: those that may ask
 * people, if a later call of the reply may defer their questions.
 */
export function deferredCallsOf(
  { tools }: AgentDefinition,
  sessionId: string,
): (toolName: string) => boolean {
  const isRoot = childPartOf(sessionId) === '';
  if (!isRoot || !tools.some(mayOutlastAnswers)) return () => false;
  return isOneOf(
    tools.filter(
      ({ execute, requireApproval }) => execute === 'client' || requireApproval !== undefined,
    ),
  );
}

/** Returns a test for tools that pages execute and know by name. */
export function clientToolsOf({ tools }: AgentDefinition): (toolName: string) => boolean {
  return isOneOf(tools.filter(({ execute, isDynamic }) => execute === 'client' && !isDynamic));
}

/** Returns true for tools whose calls may wait while people answer others, without asking first. */
function mayOutlastAnswers({ subAgent, execute, requireApproval }: ToolDefinition): boolean {
  return subAgent !== undefined || (execute === 'webhook' && requireApproval !== true);
}

function isOneOf(tools: readonly ToolDefinition[]): (toolName: string) => boolean {
  const names = new Set(tools.map(({ name }) => name));
  return (toolName) => names.has(toolName);
}
