import { endsWithin } from '../../protocol/time.js';
import type { ToolDefinition } from '../../agents/definitions.js';
import type { LostCall } from '../../agents/tool-context.js';
import { type Attempt, AttemptCancelled, orAborted } from '../attempt.js';
import type { ActivityLogger } from '../deps.js';
import { checkInput } from '../model/call-input.js';
import { toErrorTrace } from './execute-tool.js';
import { toOutcome, type ToolOutcome } from './tool-outcome.js';

/** Time limit of `verify`; a tool that exceeds it does not know. */
const VERIFY_MS = 60_000;

/** A tool's answer about a lost execution. */
export type Verified = { kind: 'done'; outcome: ToolOutcome } | { kind: 'not_done' | 'unknown' };

interface LostExecution {
  tool: ToolDefinition;
  input: unknown;
  attempt: Attempt;
  signal: AbortSignal;
  call: Omit<LostCall, 'abortSignal'>;
  logger: ActivityLogger;
}

/**
 * Asks a tool if a lost execution took effect. Any unclear answer, such as an error or a result
 * that does not fit, counts as `unknown`.
 *
 * @throws AttemptCancelled if the worker shuts down; the next attempt asks again
 */
export async function verifyCall(lost: LostExecution): Promise<Verified> {
  const { tool, input, attempt, call, logger } = lost;
  const { verify, inputSchema, outputSchema } = tool;
  if (verify === undefined) return { kind: 'unknown' };
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
