import type { AgentDefinition, ToolDefinition } from '../../agents/definitions.js';
import { childPartOf, rootOf } from '../../protocol/ids.js';
import type { OpenedCall } from './proposed-calls.js';

/**
 * Defers the chunks that ask people if a sub-agent of the same step may ask too: the pause then
 * shows all questions together in the conversation's message, whatever the order of the calls.
 */
export function deferAsks(sessionId: string, opened: readonly OpenedCall[]): OpenedCall[] {
  const isChild = childPartOf(sessionId) !== '';
  const delegates = opened.some(({ call }) => call.kind === 'subagent' && call.row === undefined);
  if (!isChild && !delegates) return [...opened];
  return opened.map(({ call, chunks }) => {
    const { kind, row } = call;
    const [ask, ...rest] = chunks;
    const isAsked = (kind === 'approval' || kind === 'client') && row === undefined;
    if (!isAsked || ask === undefined) return { call, chunks };
    return { call: { ...call, ask: { ...ask, agentId: rootOf(sessionId) } }, chunks: rest };
  });
}

/**
 * Returns a test for calls that viewers see only after the step is stored: those that may ask
 * people, if the agent has sub-agents, since a later sub-agent in the reply defers their questions.
 */
export function deferredCallsOf(
  { tools }: AgentDefinition,
  sessionId: string,
): (toolName: string) => boolean {
  const isRoot = childPartOf(sessionId) === '';
  const mayDelegate = tools.some(({ subAgent }) => subAgent !== undefined);
  if (!isRoot || !mayDelegate) return () => false;
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

function isOneOf(tools: readonly ToolDefinition[]): (toolName: string) => boolean {
  const names = new Set(tools.map(({ name }) => name));
  return (toolName) => names.has(toolName);
}
