import type { ToolDefinition } from '../../agents/definitions.js';
import { LIMITS } from '../../protocol/limits.js';
import type { NewCall } from '../../stores/contract/call-record.js';

/** Who carries a call out, and whether a person is asked before. */
export interface Ruling {
  kind: NewCall['kind'];
  /** Present when the tool's own rule decided, so that nobody is asked. */
  verdict?: { approve: boolean; reason?: string };
}

/** The call that a rule is asked about. */
interface RuledCall {
  agentId: string;
  agentType: string;
  runId: string;
}

/** Rules on a call with valid input. */
export async function ruleOn(
  { agentId, agentType, runId }: RuledCall,
  { execute, requireApproval }: ToolDefinition,
  toolCallId: string,
  input: unknown,
): Promise<Ruling> {
  if (execute === 'client') return { kind: 'client' };
  if (execute === 'agent') return { kind: 'subagent' };
  if (requireApproval === undefined) return { kind: 'server' };
  if (requireApproval === true) return { kind: 'approval' };
  const call = { sessionId: agentId, runId, agentId, agentType, toolCallId };
  try {
    const verdict = await requireApproval(input, call);
    if (typeof verdict === 'boolean') return { kind: verdict ? 'approval' : 'server' };
    const { approve, reason } = verdict;
    // A rule may come from plain JavaScript: what is no clear yes or no is for a person.
    if (typeof approve !== 'boolean') return { kind: 'approval' };
    return {
      // What was approved without asking is carried out like any call of the server's own.
      kind: approve ? 'server' : 'approval',
      verdict: {
        approve,
        ...(reason !== undefined && { reason: reason.slice(0, LIMITS.errorTextBytes / 4) }),
      },
    };
  } catch {
    // A rule that cannot decide does not decide that nobody needs to be asked.
    return { kind: 'approval' };
  }
}
