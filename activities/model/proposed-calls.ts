import { randomBytes } from 'node:crypto';
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { asSchema } from 'ai';
import { z } from 'zod';
import { resolveMaxSteps } from '../../agents/define-agent.js';
import { toApprovers } from '../../agents/approvers.js';
import type { ApprovalCall } from '../../agents/tool-config.js';
import type { ToolDefinition } from '../../agents/definitions.js';
import type { StepRef } from '../../protocol/activities.js';
import type { StreamChunk } from '../../protocol/chunk.js';
import { formatApprovalId, formatChildSessionId, rootOf } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Decision, ToolRow } from '../../protocol/rows.js';
import type { NewCall, CallDescription } from '../../store/contract/call-record.js';
import { closedCall } from '../../runs/record/closed-call.js';
import { checkInput, parseInput } from './call-input.js';
import type { ChunkBase, ProposedCall } from './reply-types.js';

export interface CallScope extends ChunkBase {
  runId: string;
  /** Prompt that the model got. */
  prompt?: LanguageModelV4Prompt | undefined;
  /** True for a sub-agent that may not have sub-agents. */
  isDeepest?: boolean;
}

/** A checked call: the commit opens `call`, and `chunks` show it. */
export interface OpenedCall {
  call: NewCall;
  chunks: StreamChunk[];
}

/**
 * Checks a proposed call against the agent's tools. Unknown tools and invalid inputs settle at once
 * with an error for the model.
 */
export async function openCall(
  scope: CallScope,
  tools: readonly ToolDefinition[],
  proposed: ProposedCall,
  now: number,
): Promise<OpenedCall> {
  const { toolCallId, toolName } = proposed;
  const tool = tools.find(({ name }) => name === toolName);
  const parsed = parseInput(proposed.input);
  const refuse = (code: string, text: string): OpenedCall =>
    closedCall(scope, proposed, parsed.value, { code, text }, now);
  // Viewers read this text too, so it does not name the agent's other tools.
  if (tool === undefined) return refuse('unknown_tool', `There is no tool named "${toolName}".`);
  if (tool.execute === 'provider') {
    const why = `"${toolName}" is carried out by the provider of the model alone.`;
    return refuse('unknown_tool', why);
  }
  const checked = await checkInput(tool.inputSchema, parsed);
  if ('why' in checked) {
    return refuse('invalid_tool_input', `Invalid input for "${toolName}": ${checked.why}`);
  }
  if (tool.subAgent !== undefined && scope.isDeepest === true) {
    return refuse('subagent_limit', 'No further agent may be asked from here.');
  }
  const ruling = await ruleOn(scope, tool, toolCallId, checked.data);
  const opened = toOpened(scope, tool, proposed, parsed.value, ruling, now);
  const about = await describeCall(scope.agentType, tool, opened.call.kind);
  if (about !== undefined) return { ...opened, call: { ...opened.call, about } };
  if (tool.subAgent === undefined) return opened;
  try {
    const child = mintChild(scope.agentId, tool.subAgent, checked.data);
    return { ...opened, call: { ...opened.call, child } };
  } catch (error) {
    return refuse('invalid_tool_input', error instanceof Error ? error.message : String(error));
  }
}

function toOpened(
  scope: CallScope,
  tool: ToolDefinition,
  { toolCallId, toolName, byClient }: ProposedCall,
  input: unknown,
  { kind, verdict }: Ruling,
  now: number,
): OpenedCall {
  const { deadlineMs, onExpiry, timeoutMs, idempotent } = tool;
  const decision: Decision | undefined = verdict && {
    approved: verdict.approve,
    reason: verdict.reason,
    at: now,
    automatic: true,
  };
  const isDenied = decision?.approved === false;
  const denial: ToolRow = { role: 'tool', toolCallId, toolName, denied: true };
  const base = { ...toBase(scope, now), toolCallId, toolName };
  const approvalId = formatApprovalId(scope.runId, toolCallId);
  // A tool's rule that denies at once needs no approver.
  const approvers = kind === 'approval' && !isDenied ? toApprovers(tool) : undefined;
  const chunks: StreamChunk[] = [];
  if (kind === 'approval' || decision !== undefined) {
    const mark = decision === undefined ? { approvers } : { isAutomatic: true };
    chunks.push({ type: 'tool_approval_request', ...base, approvalId, input, ...mark });
  }
  if (decision !== undefined) {
    const { approved, reason } = decision;
    const answer = { approvalId, approved, reason, isAutomatic: true };
    chunks.push({ type: 'tool_approval_response', ...base, ...answer });
  }
  if (kind !== 'approval') {
    chunks.push({
      type: 'tool_start',
      ...base,
      // The input fits the tool, and tools take only objects.
      arguments: input as Record<string, unknown>,
      ...((kind === 'server' || kind === 'subagent') && { providerExecuted: true }),
      ...(byClient === true && { byClient }),
    });
  }
  return {
    call: {
      toolCallId,
      toolName,
      kind,
      input,
      decision,
      ...(isDenied && { row: { ...denial, decision } }),
      deadlineMs,
      onExpiry,
      approvers,
      timeoutMs,
      ...(idempotent === true && { idempotent: true }),
    },
    chunks,
  };
}

/** Ends the run with a client tool's call: no page is asked, and its row stands for a result. */
export function endWith(scope: CallScope, { call, chunks }: OpenedCall, now: number): OpenedCall {
  const { toolCallId, toolName } = call;
  const row: ToolRow = { role: 'tool', toolCallId, toolName, output: null, isEnd: true };
  const base = { ...toBase(scope, now), toolCallId, toolName };
  return {
    call: { ...call, row },
    chunks: [...chunks, { type: 'tool_end', ...base, result: null }],
  };
}

/** Refuses a call over the step's limit; the model gets an error and may repeat it later. */
export function refuseBeyond(
  scope: CallScope,
  call: ProposedCall,
  most: number,
  now: number,
): OpenedCall {
  const why = `Not carried out: a step makes at most ${String(most)} calls.`;
  const { value } = parseInput(call.input);
  return closedCall(scope, call, value, { code: 'too_many_calls', text: why }, now);
}

function toBase(
  { agentId, agentType, step }: CallScope,
  timestamp: number,
): ChunkBase & { timestamp: number } {
  return { agentId, agentType, step, timestamp };
}

/** The executor of a call, and the verdict of its rule. */
export interface Ruling {
  kind: NewCall['kind'];
  /** Present if the tool's own rule decided, so that no person is asked. */
  verdict?: { approve: boolean; reason?: string };
}

/** A call that a rule decides on. */
interface RuledCall {
  agentId: string;
  agentType: string;
  runId: string;
  prompt?: LanguageModelV4Prompt | undefined;
}

/** Decides on a call with valid input. */
export async function ruleOn(
  { agentId, agentType, runId, prompt = [] }: RuledCall,
  { execute, requireApproval }: ToolDefinition,
  toolCallId: string,
  input: unknown,
): Promise<Ruling> {
  if (execute === 'client') return { kind: 'client' };
  if (execute === 'agent') return { kind: 'subagent' };
  if (requireApproval === undefined) return { kind: 'server' };
  if (requireApproval === true) return { kind: 'approval' };
  const call: ApprovalCall = {
    sessionId: agentId,
    runId,
    agentId,
    agentType,
    toolCallId,
    // The prompt's messages are messages of the AI SDK, in their most explicit form.
    messages: prompt.filter(({ role }) => role !== 'system'),
  };
  try {
    const verdict = await requireApproval(input, call);
    if (typeof verdict === 'boolean') return { kind: verdict ? 'approval' : 'server' };
    const { approve, reason } = verdict;
    // A rule in plain JavaScript may return anything; without a clear yes or no a person decides.
    if (typeof approve !== 'boolean') return { kind: 'approval' };
    return {
      // An automatically approved call executes like any call of the server.
      kind: approve ? 'server' : 'approval',
      verdict: {
        approve,
        ...(reason !== undefined && { reason: reason.slice(0, LIMITS.errorTextBytes / 4) }),
      },
    };
  } catch {
    // If the rule fails, a person decides.
    return { kind: 'approval' };
  }
}

const NONCE_BYTES = 12;

/** Returns true if another sub-agent would exceed the depth limit. */
export function isTooDeep({ depth = 0 }: Pick<StepRef, 'depth'>): boolean {
  return depth >= LIMITS.subAgentDepth;
}

/** Creates the child run that executes a call; its ids cannot be guessed. */
export function mintChild(
  sessionId: string,
  { agent, toMessage }: NonNullable<ToolDefinition['subAgent']>,
  input: unknown,
): NonNullable<NewCall['child']> {
  const nonce = randomBytes(NONCE_BYTES).toString('hex');
  const id = formatChildSessionId(rootOf(sessionId), 1, nonce);
  return {
    sessionId: id,
    runId: `${id}:1-${randomBytes(6).toString('hex')}`,
    agent: agent.name,
    maxSteps: Math.min(resolveMaxSteps(agent), Number.MAX_SAFE_INTEGER),
    ...(agent.outputSchema !== undefined && { hasOutput: true }),
    activities: agent.activities,
    message: toMessage(input),
  };
}

/** Each call stores its schema, and each page that asks for pending calls gets it. */
const MOST_SCHEMA_BYTES = 16_384;

const MOST_DESCRIPTION_CHARS = 1_000;

/** Cache by tool; undefined for a schema that pages cannot use. */
const schemas = new WeakMap<ToolDefinition, Promise<unknown>>();

/** Describes a call for people; undefined if none is asked. */
async function describeCall(
  agent: string,
  tool: ToolDefinition,
  kind: NewCall['kind'],
): Promise<CallDescription | undefined> {
  if (kind !== 'approval' && kind !== 'client') return undefined;
  const { title, description } = tool;
  let schema = schemas.get(tool);
  if (schema === undefined) {
    schema = toFormSchema(tool);
    schemas.set(tool, schema);
  }
  return {
    agent,
    ...(title !== undefined && { title }),
    description: description.slice(0, MOST_DESCRIPTION_CHARS).toWellFormed(),
    schema: await schema,
  };
}

/** Returns undefined if JSON Schema cannot express the schema: the page then has no form. */
async function toFormSchema(tool: ToolDefinition): Promise<unknown> {
  try {
    const schema: unknown =
      tool.execute === 'client'
        ? tool.outputSchema && z.toJSONSchema(tool.outputSchema, { io: 'input' })
        : await asSchema(tool.forModel?.inputSchema ?? tool.inputSchema).jsonSchema;
    const text = JSON.stringify(schema ?? null);
    if (text === 'null' || Buffer.byteLength(text) > MOST_SCHEMA_BYTES) return undefined;
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
