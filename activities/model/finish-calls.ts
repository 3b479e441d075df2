import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import type { ToolRow } from '../../protocol/rows.js';
import { closedCall } from '../../stores/record/closed-call.js';
import { parseInput, type CallInput } from './call-input.js';
import type { FinishTool } from './finish-tool.js';
import type { CallScope, OpenedCall } from './proposed-calls.js';
import type { ProposedCall } from './reply-types.js';

/** The outcome of the calls by which a step handed in its result. */
export interface FinishCalls {
  opened: OpenedCall[];
  /** The first result that fits. */
  accepted?: { output: unknown };
  /** True if there was one that does not fit, and none that does. */
  isInvalid: boolean;
}

/**
 * Checks the calls that hand in a result. They are in the transcript only: no chunk shows them, so no
 * client ever sees one.
 */
export async function openFinishCalls(
  scope: CallScope,
  finish: FinishTool | undefined,
  calls: readonly ProposedCall[],
): Promise<FinishCalls> {
  const result: FinishCalls = { opened: [], isInvalid: false };
  for (const call of calls) {
    if (call.toolName !== FINISH_TOOL_NAME) continue;
    const input = parseInput(call.input);
    const verdict = await judge(finish, input, result);
    if ('output' in verdict) {
      result.accepted = verdict;
      result.opened.push(acknowledge(call, input));
    } else {
      result.isInvalid = true;
      const why = { code: 'invalid_output', text: verdict.why };
      const { call: refused } = closedCall(scope, call, input.value, why, 0);
      result.opened.push({ call: refused, chunks: [] });
    }
  }
  if (result.accepted !== undefined) result.isInvalid = false;
  return result;
}

async function judge(
  finish: FinishTool | undefined,
  input: CallInput,
  { accepted }: FinishCalls,
): Promise<{ output: unknown } | { why: string }> {
  if (finish === undefined) return { why: `There is no tool named "${FINISH_TOOL_NAME}".` };
  if (accepted !== undefined) return { why: 'The result was handed in already.' };
  const verdict = await finish.accept(input);
  return 'why' in verdict
    ? { why: `Invalid input for "${FINISH_TOOL_NAME}": ${verdict.why}` }
    : verdict;
}

/** Every call has a result, this one too. */
function acknowledge({ toolCallId, toolName }: ProposedCall, { value }: CallInput): OpenedCall {
  const row: ToolRow = { role: 'tool', toolCallId, toolName, output: { acknowledged: true } };
  return { call: { toolCallId, toolName, kind: 'server', input: value, row }, chunks: [] };
}
