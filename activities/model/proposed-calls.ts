import type { ToolDefinition } from '../../agents/definitions.js';
import type { StreamChunk } from '../../protocol/chunk.js';
import { formatApprovalId } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { AssistantPart, ToolRow } from '../../protocol/rows.js';
import type { NewCall } from '../../stores/session-store.js';
import type { ChunkBase, ProposedCall } from './step-reply.js';

export interface CallScope extends ChunkBase {
  runId: string;
}

/** A call that was looked at: what the commit opens, and the chunks that show it. */
export interface OpenedCall {
  call: NewCall;
  chunks: StreamChunk[];
}

/**
 * Checks what the model asked for against the agent's tools. Unknown tools and invalid inputs are
 * settled at once, their error goes back to the model.
 */
export async function openCall(
  scope: CallScope,
  tools: readonly ToolDefinition[],
  proposed: ProposedCall,
  now: number,
): Promise<OpenedCall> {
  const tool = tools.find(({ name }) => name === proposed.toolName);
  const parsed = parseInput(proposed.input);
  if (tool === undefined) {
    return refuse(
      scope,
      proposed,
      parsed.value,
      `There is no tool named "${proposed.toolName}".`,
      'unknown_tool',
      now,
    );
  }
  const checked = await checkInput(tool, parsed);
  if ('why' in checked) {
    return refuse(
      scope,
      proposed,
      parsed.value,
      `Invalid input for "${tool.name}": ${checked.why}`,
      'invalid_tool_input',
      now,
    );
  }
  const kind = await kindOf(scope, tool, proposed.toolCallId, checked.data);
  const { toolCallId, toolName } = proposed;
  const input = parsed.value;
  const base = toBase(scope, now);
  const chunk: StreamChunk =
    kind === 'approval'
      ? {
          type: 'tool_approval_request',
          ...base,
          toolCallId,
          toolName,
          approvalId: formatApprovalId(scope.runId, toolCallId),
          input,
        }
      : {
          type: 'tool_start',
          ...base,
          toolCallId,
          toolName,
          // Tools take objects only, and the input fits the tool.
          arguments: input as Record<string, unknown>,
          ...(kind === 'server' && { providerExecuted: true }),
        };
  return {
    call: {
      toolCallId,
      toolName,
      kind,
      input,
      ...(tool.timeoutMs !== undefined && { timeoutMs: tool.timeoutMs }),
      ...(tool.idempotent === true && { idempotent: true }),
    },
    chunks: [chunk],
  };
}

/** A call that a stop or a failure overtook: shown and stored as not carried out. */
export function closeCall(
  scope: CallScope,
  part: Extract<AssistantPart, { type: 'tool-call' }>,
  input: unknown,
  why: { code: string; text: string },
  now: number,
): OpenedCall {
  const { toolCallId, toolName } = part;
  return refuse(scope, { toolCallId, toolName, input: '' }, input, why.text, why.code, now);
}

async function kindOf(
  scope: CallScope,
  tool: ToolDefinition,
  toolCallId: string,
  input: unknown,
): Promise<NewCall['kind']> {
  if (tool.execute === 'client') return 'client';
  if (tool.execute === 'agent') return 'subagent';
  if (tool.requireApproval === undefined) return 'server';
  if (tool.requireApproval === true) return 'approval';
  const { agentId, agentType, runId } = scope;
  const identity = { sessionId: agentId, runId, agentId, agentType, toolCallId };
  try {
    return (await tool.requireApproval(input, identity)) ? 'approval' : 'server';
  } catch {
    // A rule that cannot decide does not decide that nobody needs to be asked.
    return 'approval';
  }
}

/** A schema whose own code throws refuses the input, it does not fail the step. */
async function checkInput(
  { inputSchema }: ToolDefinition,
  { ok, value, why }: { ok: boolean; value: unknown; why?: string },
): Promise<{ data: unknown } | { why: string }> {
  if (!ok) return { why: why ?? 'the input is no valid JSON' };
  try {
    const checked = await inputSchema.safeParseAsync(value);
    return checked.success ? { data: checked.data } : { why: describeIssues(checked.error.issues) };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

function refuse(
  scope: CallScope,
  { toolCallId, toolName }: ProposedCall,
  input: unknown,
  text: string,
  errorCode: string,
  now: number,
): OpenedCall {
  const error = text.slice(0, LIMITS.errorTextBytes / 4);
  const row: ToolRow = { role: 'tool', toolCallId, toolName, error, errorCode };
  return {
    call: { toolCallId, toolName, kind: 'server', input, row },
    chunks: [
      {
        type: 'tool_input_error',
        ...toBase(scope, now),
        toolCallId,
        toolName,
        error,
        partialInput: input,
      },
    ],
  };
}

function toBase(
  { agentId, agentType, step }: CallScope,
  timestamp: number,
): ChunkBase & { timestamp: number } {
  return { agentId, agentType, step, timestamp };
}

function parseInput(text: string): { ok: boolean; value: unknown; why?: string } {
  // They would travel with every later step.
  if (Buffer.byteLength(text) > LIMITS.callInputBytes)
    return { ok: false, value: {}, why: 'the input is larger than 128 KB' };
  if (text.trim() === '') return { ok: true, value: {} };
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false, value: {} };
  }
}

function describeIssues(issues: readonly { path: PropertyKey[]; message: string }[]): string {
  return issues
    .slice(0, 5)
    .map(({ path, message }) =>
      path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
    )
    .join('; ');
}
