import { randomBytes } from 'node:crypto';
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { z } from 'zod';
import { toApprovers } from '../../agents/approvers.js';
import { resolveMaxSteps } from '../../agents/define-agent.js';
import type { ToolDefinition } from '../../agents/definitions.js';
import type { ApprovalCall } from '../../agents/tool-config.js';
import { formatApprovalId, formatChildSessionId, formatRunId, rootOf } from '../../protocol/ids.js';
import { LIMITS, startOf } from '../../protocol/limits.js';
import type { Decision, ToolRow } from '../../protocol/rows.js';
import { closedCall, type CallToCommit, type StepPlace } from '../../runs/record/step-chunks.js';
import type { CallDescription, NewCall } from '../../store/contract/call-record.js';
import { orAborted } from '../attempt.js';
import { checkCallInput, inputSchemaOf, parseInput } from './call-input.js';
import { untilStalled, type ClaimedStep } from './middleware.js';
import { toModelMessages } from './prepare-messages.js';
import type { ProposedCall } from './step-reply.js';

export interface ProposingStep extends StepPlace {
  /** Prompt that the model got. */
  prompt?: LanguageModelV4Prompt | undefined;
  /** Number of agents above the run's own. */
  depth?: number | undefined;
  /** The step that waits for the rules of tools. Default: nothing limits them. */
  claimed?: Pick<ClaimedStep, 'attempt' | 'agent'>;
}

/**
 * Checks a proposed call against the agent's tools. Unknown tools and invalid inputs settle at once
 * with an error for the model.
 */
export async function openCall(
  from: ProposingStep,
  tools: readonly ToolDefinition[],
  proposed: ProposedCall,
  now: number,
): Promise<CallToCommit> {
  const { toolCallId, toolName } = proposed;
  const tool = tools.find(({ name }) => name === toolName);
  const parsed = parseInput(proposed.input);
  const refuse = (code: string, text: string): CallToCommit =>
    closedCall(from, proposed, parsed.value, { code, text }, now);
  // Viewers read this text too, so it does not name the agent's other tools.
  if (tool === undefined) return refuse('unknown_tool', `There is no tool named "${toolName}".`);
  const { execute, subAgent } = tool;
  if (execute === 'provider') {
    const why = `"${toolName}" is carried out by the provider of the model alone.`;
    return refuse('unknown_tool', why);
  }
  const checked = await checkCallInput(tool, parsed);
  if ('why' in checked) {
    return refuse('invalid_tool_input', `Invalid input for "${toolName}": ${checked.why}`);
  }
  const { depth = 0 } = from;
  if (subAgent !== undefined && depth >= LIMITS.subAgentDepth) {
    return refuse('subagent_limit', 'No further agent may be asked from here.');
  }
  const ruling = await ruleOn(from, tool, toolCallId, checked.data);
  const opened = toOpened(from, { tool, proposed, input: parsed.value, ruling }, now);
  const { kind } = ruling;
  if (kind === 'approval' || kind === 'client') {
    const about = await describeCall(from.agentType, tool);
    return { ...opened, call: { ...opened.call, about } };
  }
  if (subAgent === undefined) return opened;
  try {
    const child = mintChild(from.agentId, subAgent, checked.data);
    return { ...opened, call: { ...opened.call, child } };
  } catch (error) {
    return refuse('invalid_tool_input', error instanceof Error ? error.message : String(error));
  }
}

function toOpened(
  from: ProposingStep,
  checked: { tool: ToolDefinition; proposed: ProposedCall; input: unknown; ruling: Ruling },
  now: number,
): CallToCommit {
  const { tool, input } = checked;
  const { toolCallId, toolName, byClient, providerMetadata } = checked.proposed;
  const { kind, verdict } = checked.ruling;
  const { deadlineMs, onExpiry, timeoutMs, idempotent } = tool;
  const { approve: approved, reason } = verdict ?? {};
  const decision: Decision | undefined =
    approved === undefined ? undefined : { approved, reason, at: now, automatic: true };
  // A tool's rule that denies at once needs no approver.
  const approvers = kind === 'approval' && approved !== false ? toApprovers(tool) : undefined;
  const denial: ToolRow = { role: 'tool', toolCallId, toolName, denied: true, decision };
  const base = toBase(from, { toolCallId, toolName }, now);
  const told = providerMetadata && { providerMetadata };
  const approvalId = formatApprovalId(from.runId, toolCallId);
  const chunks: CallToCommit['chunks'] = [];
  if (kind === 'approval' || decision !== undefined) {
    const mark = decision === undefined ? { approvers } : { isAutomatic: true };
    chunks.push({ type: 'tool_approval_request', ...base, approvalId, input, ...mark, ...told });
  }
  if (approved !== undefined) {
    const answer = { approvalId, approved, reason, isAutomatic: true };
    chunks.push({ type: 'tool_approval_response', ...base, ...answer });
  }
  if (kind !== 'approval') {
    chunks.push({
      type: 'tool_start',
      ...base,
      // Calls with other inputs are refused.
      arguments: input as Record<string, unknown>,
      ...((kind === 'server' || kind === 'subagent') && { providerExecuted: true }),
      ...(byClient === true && { byClient }),
      ...told,
    });
  }
  const call: NewCall = {
    toolCallId,
    toolName,
    kind,
    input,
    decision,
    ...(approved === false && { row: denial }),
    deadlineMs,
    onExpiry,
    approvers,
    timeoutMs,
    ...(idempotent === true && { idempotent }),
  };
  return { call, chunks };
}

/** Ends the run with a client tool's call: no page is asked, and its row stands for a result. */
export function endWith(
  from: ProposingStep,
  { call, chunks }: CallToCommit,
  now: number,
): CallToCommit {
  const { toolCallId, toolName } = call;
  const row: ToolRow = { role: 'tool', toolCallId, toolName, output: null, isEnd: true };
  const end = { type: 'tool_end', ...toBase(from, call, now), result: null } as const;
  return { call: { ...call, row }, chunks: [...chunks, end] };
}

/** Refuses a call over the step's limit; the model gets an error and may repeat it later. */
export function refuseBeyond(
  from: ProposingStep,
  call: ProposedCall,
  max: number,
  now: number,
): CallToCommit {
  const why = `Not carried out: a step makes at most ${String(max)} calls.`;
  const { value } = parseInput(call.input);
  return closedCall(from, call, value, { code: 'too_many_calls', text: why }, now);
}

function toBase(
  { agentId, agentType, step }: ProposingStep,
  { toolCallId, toolName }: Pick<NewCall, 'toolCallId' | 'toolName'>,
  timestamp: number,
) {
  return { agentId, agentType, step, timestamp, toolCallId, toolName };
}

/** The executor of a call, and the verdict of its rule. */
interface Ruling {
  kind: NewCall['kind'];
  /** Present if the tool's own rule decided, so that no person is asked. */
  verdict?: { approve: boolean; reason?: string };
}

/** Decides on a call with valid input. @throws once the attempt is cut */
async function ruleOn(
  { agentId, agentType, runId, prompt = [], claimed }: ProposingStep,
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
    messages: toModelMessages(prompt),
  };
  try {
    const asked = requireApproval(input, call);
    const verdict = await (claimed ? orAborted(asked, untilStalled(claimed)) : asked);
    if (typeof verdict === 'boolean') return { kind: verdict ? 'approval' : 'server' };
    const { approve, reason } = verdict;
    // A rule in plain JavaScript may return anything; without a clear yes or no a person decides.
    if (typeof approve !== 'boolean') return { kind: 'approval' };
    const why = reason !== undefined && { reason: startOf(reason, LIMITS.errorTextBytes / 4) };
    // An automatically approved call executes like any call of the server.
    return { kind: approve ? 'server' : 'approval', verdict: { approve, ...why } };
  } catch (error) {
    if (claimed?.attempt.signal.aborted === true) throw error;
    // If the rule fails or hangs, a person decides.
    return { kind: 'approval' };
  }
}

/** Creates the child run that executes a call; its ids cannot be guessed. */
function mintChild(
  sessionId: string,
  { agent, toMessage }: NonNullable<ToolDefinition['subAgent']>,
  input: unknown,
): NonNullable<NewCall['child']> {
  const id = formatChildSessionId(rootOf(sessionId), 1, randomBytes(12).toString('hex'));
  return {
    sessionId: id,
    runId: formatRunId(id, 1, randomBytes(6).toString('hex')),
    agent: agent.name,
    maxSteps: Math.min(resolveMaxSteps(agent), Number.MAX_SAFE_INTEGER),
    ...(agent.outputSchema !== undefined && { hasOutput: true }),
    activities: agent.activities,
    message: toMessage(input),
  };
}

/** Each call stores its schema, and each page that asks for pending calls gets it. */
const MAX_SCHEMA_BYTES = 16_384;

const MAX_DESCRIPTION_CHARS = 1_000;

/** Cache by tool; undefined for a schema that pages cannot use. */
const schemas = new WeakMap<ToolDefinition, Promise<unknown>>();

/** Describes a call for the people who are asked. */
async function describeCall(agent: string, tool: ToolDefinition): Promise<CallDescription> {
  const { title, description } = tool;
  const schema = schemas.get(tool) ?? toFormSchema(tool);
  schemas.set(tool, schema);
  return {
    agent,
    ...(title !== undefined && { title }),
    description: startOf(description, MAX_DESCRIPTION_CHARS),
    schema: await schema,
  };
}

/** Returns undefined if JSON Schema cannot express the schema: the page then has no form. */
async function toFormSchema(tool: ToolDefinition): Promise<unknown> {
  try {
    const schema: unknown =
      tool.execute === 'client'
        ? tool.outputSchema && z.toJSONSchema(tool.outputSchema, { io: 'input' })
        : await inputSchemaOf(tool).jsonSchema;
    const text = JSON.stringify(schema ?? null);
    if (text === 'null' || Buffer.byteLength(text) > MAX_SCHEMA_BYTES) return undefined;
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
