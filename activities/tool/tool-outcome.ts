import type { AgentDefinition, ToolDefinition } from '../../agents/definitions.js';
import type { CallActivityRef, GivenUpCall } from '../../protocol/temporal.js';
import type { StreamChunk } from '../../protocol/chunk.js';
import { isDeeperThan, LIMITS, startOf, withoutPrototypeKeys } from '../../protocol/limits.js';
import type { Decision, ToolRow } from '../../protocol/rows.js';
import type { CallSpec } from '../../store/contract/call-record.js';

/** Outcome of an execution, in the form that the model gets. */
export type ToolOutcome = { output: unknown } | { error: string; errorCode: string };

const TOO_DEEP: ToolOutcome = {
  error: 'The result is nested too deeply.',
  errorCode: 'tool_result_too_deep',
};

/** Converts a result for storage. Values without JSON become null, keys of prototypes are left out; BigInt and cycles throw. */
export function toOutcome(output: unknown): ToolOutcome {
  let json: string | undefined;
  try {
    json = toJson(output);
  } catch (error) {
    // The value is too deep for the engine.
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
  if (json === undefined) return { output: null };
  if (Buffer.byteLength(json) > LIMITS.answerBytes) {
    return { error: 'The result is too large.', errorCode: 'tool_result_too_large' };
  }
  if (isDeeperThan(LIMITS.jsonDepth, json)) return TOO_DEEP;
  return { output: JSON.parse(withoutPrototypeKeys(json)) as unknown };
}

/** Returns undefined for values without a JSON form; the library's types omit that case. */
function toJson(value: unknown): string | undefined {
  return JSON.stringify(value);
}

export function toFailure(error: unknown, errorCode: string): ToolOutcome {
  return { error: toThrownText(error), errorCode };
}

/** Returns the outcome of a call that is not executed again. */
export function toGivenUp(toolName: string, why: GivenUpCall): ToolOutcome {
  const [what, code] = GIVEN_UP[why];
  return toFailure(`"${toolName}" ${what}.`, code);
}

const GIVEN_UP: Record<GivenUpCall, readonly [what: string, code: string]> = {
  timed_out: ['took longer than allowed', 'tool_timeout'],
  blocked: ['held up its worker for too long', 'tool_timeout'],
  failed: ['could not be carried out', 'tool_execution_failed'],
};

/**
 * Returns the run's output from a tool that ends the run; undefined if the call failed. A result
 * that does not fit the agent's outputSchema does not end the run: the model gets an error.
 */
export async function toRunOutput(
  agent: AgentDefinition | undefined,
  tool: ToolDefinition | undefined,
  outcome: ToolOutcome,
): Promise<{ outcome: ToolOutcome; output?: unknown }> {
  const finishWith = tool?.finishWith;
  if (finishWith === undefined || 'error' in outcome) return { outcome };
  try {
    const value = finishWith === true ? outcome.output : finishWith(outcome.output);
    const schema = agent?.outputSchema;
    const output: unknown = schema === undefined ? value : await schema.parseAsync(value);
    const bounded = toOutcome(output);
    return 'error' in bounded ? { outcome: bounded } : { outcome, output: bounded.output };
  } catch (error) {
    const { message } = error as Error;
    const text = `The tool was carried out, but the run cannot end with its result: ${message}`;
    return { outcome: toFailure(text, 'invalid_output') };
  }
}

export function toResult(
  ref: CallActivityRef,
  { toolCallId, toolName, kind }: CallSpec,
  outcome: ToolOutcome,
  decision: Decision | undefined,
): { row: ToolRow; chunk: StreamChunk } {
  const result: unknown = 'error' in outcome ? null : outcome.output;
  return {
    row: { role: 'tool', toolCallId, toolName, ...outcome, decision },
    chunk: {
      type: 'tool_end',
      ...toBase(ref),
      toolCallId,
      toolName,
      result,
      ...('error' in outcome && outcome),
      // A call that a person approved counts as the client's; see PROTOCOL.md.
      ...(kind === 'server' && { providerExecuted: true }),
    },
  };
}

export function toBase(ref: CallActivityRef): {
  agentId: string;
  agentType: string;
  step: number;
  timestamp: number;
} {
  return { agentId: ref.sessionId, agentType: ref.agent, step: ref.step, timestamp: Date.now() };
}

/**
 * Returns the model's text for a thrown value, as in the AI SDK: an error's message, a string
 * unchanged, other values as JSON. Tools may throw values that cannot even be described.
 */
function toThrownText(thrown: unknown): string {
  return startOf(describe(thrown), LIMITS.errorTextBytes / 4);
}

function describe(thrown: unknown): string {
  try {
    if (typeof thrown === 'string') return thrown;
    if (thrown === undefined || thrown === null) return UNKNOWN;
    if (!(thrown instanceof Error)) return toJson(thrown) ?? UNKNOWN;
    const message: unknown = thrown.message;
    if (typeof message !== 'string') return toJson(message) ?? UNKNOWN;
    return message === '' ? String(thrown) : message;
  } catch {
    return UNKNOWN;
  }
}

const UNKNOWN = 'unknown error';
