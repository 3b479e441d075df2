import { endsWithin, retryDelay } from '../../protocol/time.js';
import type { RetryPolicy } from '../../agents/tool-config.js';
import type { ToolDefinition, AgentDefinition } from '../../agents/definitions.js';
import type { LostCall, ToolContext } from '../../agents/tool-context.js';
import { ToolError } from '../../agents/tool-error.js';
import { LIMITS } from '../../protocol/limits.js';
import type { CallRef } from '../../protocol/run.js';
import {
  type Attempt,
  AttemptCancelled,
  AttemptFailure,
  orAborted,
  TOOL_RETRY,
} from '../attempt.js';
import type { ActivityLogger } from '../deps.js';
import { checkInput } from '../model/call-input.js';
import { toFailure, toOutcome, type ToolOutcome } from './tool-outcome.js';

interface Execution {
  tool: ToolDefinition;
  input: unknown;
  /** Number of this execution of the call, from 1. */
  number: number;
  attempt: Attempt;
  /** Fires when the attempt is cut or the tool times out. */
  signal: AbortSignal;
  context: ToolContext;
  /** Address that answers the call. */
  webhookUrl: string;
  logger: ActivityLogger;
}

/**
 * Runs a tool. An error becomes its outcome, unless the tool is to be retried: then the attempt
 * fails with the tool's back-off, and Temporal starts the next one on any worker.
 *
 * @throws AttemptFailure if the tool is to be retried
 * @throws AttemptCancelled if the worker shuts down
 */
export async function executeTool(execution: Execution): Promise<ToolOutcome> {
  const { tool, input, number, attempt, signal, context, webhookUrl, logger } = execution;
  const { execute, send, inputSchema, outputSchema, retry } = tool;
  if (typeof execute !== 'function' && send === undefined) {
    return toFailure(`"${tool.name}" is not carried out here.`, 'unknown_tool');
  }
  const parsed = await checkInput(inputSchema, { ok: true, value: input });
  if ('why' in parsed) {
    return toFailure(`Invalid input for "${tool.name}": ${parsed.why}`, 'invalid_tool_input');
  }
  try {
    // The extra promise also turns synchronous errors into the tool's error.
    const work = Promise.resolve().then(async () => {
      const ended = attempt.executing({ toolCallId: context.toolCallId, toolName: tool.name });
      try {
        if (typeof execute === 'function') return await execute(parsed.data, context);
        return await send?.(webhookUrl, parsed.data, context);
      } finally {
        ended();
      }
    });
    const result = await orAborted(work, signal, 'the call was cut short');
    if (execute === 'webhook') return { output: null };
    return toOutcome(outputSchema === undefined ? result : await outputSchema.parseAsync(result));
  } catch (error) {
    if (attempt.cancelled()) throw new AttemptCancelled('the worker goes away');
    logger.info(
      { error: toErrorTrace(error), runId: context.runId, toolCallId: context.toolCallId },
      'tool failed',
    );
    const isCut = attempt.cutReason() !== undefined;
    if (retry !== undefined && number < retry.attempts && !isCut) {
      throw new AttemptFailure(`execution ${String(number)} of "${tool.name}" failed`, {
        type: TOOL_RETRY,
        afterMs: toRetryDelay(retry, number),
      });
    }
    if (signal.aborted && !isCut) {
      return toFailure(`"${tool.name}" took longer than allowed.`, 'tool_timeout');
    }
    return toFailure(error, toErrorCode(error));
  }
}

function toErrorCode(error: unknown): string {
  try {
    if (ToolError.isInstance(error)) return error.code;
  } catch {
    // Nothing can examine it, such as a revoked proxy.
  }
  return 'tool_execution_failed';
}

/** Time limit of `verify`; a tool that exceeds it does not know. */
const VERIFY_MS = 60_000;

/** A tool's answer about a lost execution. */
type Verified = { kind: 'done'; outcome: ToolOutcome } | { kind: 'not_done' | 'unknown' };

interface LostExecution extends Pick<Execution, 'input' | 'attempt' | 'signal' | 'logger'> {
  tool: ToolDefinition | undefined;
  call: Omit<LostCall, 'abortSignal'>;
}

/**
 * Asks a tool whether a lost execution took effect. Any unclear answer, such as an error or a result
 * that does not fit, counts as `unknown`.
 *
 * @throws AttemptCancelled if the worker shuts down; the next attempt asks again
 */
export async function verifyCall(lost: LostExecution): Promise<Verified> {
  const { tool, input, attempt, call, logger } = lost;
  if (tool?.verify === undefined) return { kind: 'unknown' };
  const { verify, inputSchema, outputSchema } = tool;
  const signal = endsWithin(VERIFY_MS, lost.signal);
  try {
    const parsed = await checkInput(inputSchema, { ok: true, value: input });
    if ('why' in parsed) return { kind: 'unknown' };
    // The extra promise also catches synchronous errors.
    const work = Promise.resolve().then(() =>
      verify(parsed.data, { ...call, abortSignal: signal }),
    );
    // The verdict may come from plain JavaScript.
    const verdict = (await orAborted(work, signal)) as {
      outcome?: unknown;
      result?: unknown;
    } | null;
    if (verdict?.outcome === 'not_done') return { kind: 'not_done' };
    if (verdict?.outcome !== 'done') return { kind: 'unknown' };
    const { result } = verdict;
    // A webhook's call gets its result later.
    const schema = tool.execute === 'webhook' ? undefined : outputSchema;
    const checked = schema === undefined ? result : await schema.parseAsync(result);
    return { kind: 'done', outcome: toOutcome(checked) };
  } catch (error) {
    if (attempt.cancelled()) throw new AttemptCancelled('the worker goes away');
    const { runId, toolCallId } = call;
    logger.warn(
      { error: toErrorTrace(error), runId, toolCallId },
      'a tool could not verify a call',
    );
    return { kind: 'unknown' };
  }
}

/** Returns the wait after an execution, ms. Pure. */
export function toRetryDelay(
  { initialIntervalMs = 1_000, maximumIntervalMs = 60_000, coefficient = 2 }: RetryPolicy,
  execution: number,
): number {
  return retryDelay({
    attempt: execution,
    firstMs: initialIntervalMs,
    mostMs: maximumIntervalMs,
    factor: coefficient,
  });
}

/** Maximum number of logged stack frames. */
const FRAMES = 10;

/**
 * Returns a tool's error for the log: its class, or the type of a thrown value, and its innermost
 * stack frames. Its text is left out, since it may quote people. Pure.
 */
export function toErrorTrace(error: unknown): { name: string; at: string[] } {
  try {
    if (!(error instanceof Error)) return { name: typeof error, at: [] };
    const { name, message, stack = '' } = error;
    const text = stack.indexOf(message);
    const frames = stack.slice(text < 0 ? 0 : text + message.length).split('\n');
    const at = frames.map((frame) => frame.trim()).filter((frame) => frame.startsWith('at '));
    return { name, at: at.slice(0, FRAMES) };
  } catch {
    // Its fields have unexpected types, or it throws when read.
    return { name: 'Error', at: [] };
  }
}

/**
 * Returns the settings of a call's own activity; undefined if it needs none. In the shape `leg`, a
 * tool also needs an activity if it may outlast a leg's wait, or pauses for long between two
 * executions. Pure.
 */
export function activityOf(
  { tools, activities }: Pick<AgentDefinition, 'tools' | 'activities'>,
  toolName: string,
): CallRef['activity'] {
  const tool = tools.find(({ name }) => name === toolName);
  if (tool?.activity !== undefined || activities !== 'leg') return tool?.activity;
  const { timeoutMs = 0, retry } = tool ?? {};
  const pauseMs = retry === undefined ? 0 : toRetryDelay(retry, retry.attempts - 1);
  return timeoutMs > LIMITS.toolMs || pauseMs > LIMITS.waitInPlaceMs ? {} : undefined;
}
