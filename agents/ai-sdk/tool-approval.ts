import { DefinitionError } from '../definition-error.js';
import type { AgentContexts } from './contexts.js';
import type { ApprovalRule } from '../tool-config.js';
import type { ToolDefinition } from '../definitions.js';

/** The AI SDK's `toolApproval` setting: a status or function per tool, or one function for all. */
export type ToolApproval =
  ((options: never) => unknown) | Readonly<Record<string, ToolApprovalStatus>>;
type ToolApprovalStatus = string | object | ((input: never, options: never) => unknown) | undefined;

/**
 * Adds an agent's approval rules to its tools; they override the tools' own.
 *
 * @throws DefinitionError for a rule without effect: only tools that the server executes ask a rule
 */
export function withApprovals(
  tools: readonly ToolDefinition[],
  approval: ToolApproval,
  agent: string,
  contexts: AgentContexts = {},
): ToolDefinition[] {
  if (typeof approval !== 'function') {
    const unknown = Object.keys(approval).find(
      (name) => !tools.some((tool) => nameIn(tool) === name || tool.name === name),
    );
    if (unknown !== undefined) {
      throw new DefinitionError(`toolApproval names "${unknown}", which is no tool`, { agent });
    }
  }
  return tools.map((tool) => {
    const rule =
      typeof approval === 'function'
        ? forAll(approval, tool, contexts)
        : ruleOf(approval[nameIn(tool)] ?? approval[tool.name], tool, contexts);
    if (rule === undefined) return tool;
    if (typeof tool.execute !== 'function') {
      const fault = 'toolApproval cannot rule on it: it has no execute function on the server';
      throw new DefinitionError(fault, { agent, tool: tool.name });
    }
    return Object.freeze({ ...tool, requireApproval: rule });
  });
}

/** Returns the tool's name in the AI SDK's settings. */
function nameIn({ listedAs, name }: ToolDefinition): string {
  return listedAs ?? name;
}

type Rule = ApprovalRule<unknown>;

function ruleOf(
  status: ToolApprovalStatus,
  tool: ToolDefinition,
  { runtimeContext, toolsContext }: AgentContexts,
): Rule | undefined {
  if (status === undefined) return undefined;
  if (typeof status !== 'function') return () => toVerdict(status);
  const decide = status as (input: unknown, options: object) => unknown;
  const contexts = { toolContext: toolsContext?.[nameIn(tool)], runtimeContext };
  return async (input, { toolCallId, messages }) =>
    toVerdict(await decide(input, { toolCallId, messages: [...messages], ...contexts }));
}

function forAll(
  approval: (options: never) => unknown,
  tool: ToolDefinition,
  { runtimeContext, toolsContext }: AgentContexts,
): Rule {
  const decide = approval as (options: object) => unknown;
  return async (input, { toolCallId, messages }) => {
    const toolCall = { type: 'tool-call', toolCallId, toolName: nameIn(tool), input };
    const asked = { toolCall, tools: undefined, messages: [...messages] };
    return toVerdict(await decide({ ...asked, runtimeContext, toolsContext }));
  };
}

/** @throws Error for an unknown status, so that a person is asked */
function toVerdict(status: unknown): Awaited<ReturnType<Rule>> {
  const { type, reason } =
    typeof status === 'object' && status !== null
      ? (status as { type?: unknown; reason?: string })
      : { type: status };
  const why = reason === undefined ? {} : { reason };
  switch (type) {
    case undefined:
    case 'not-applicable':
      return false;
    case 'user-approval':
      return true;
    case 'approved':
      return { approve: true, ...why };
    case 'denied':
      return { approve: false, ...why };
    default:
      throw new Error('this is no status of an approval');
  }
}
