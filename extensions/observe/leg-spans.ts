import {
  legSpan,
  type FinishedSpan,
  type SpanAttributes,
  type SpanName,
} from '../../protocol/telemetry.js';
import { rootOf, toShownSessionId, workflowIdOf } from '../../protocol/ids.js';
import type { RunStatus } from '../../protocol/run.js';
import type { RunUsage } from '../../store/contract/runs.js';
import type { Event, RunPart } from '../../runs/extension.js';

/**
 * Names and attributes of the spans of a leg, by OpenTelemetry's conventions for generative AI. Pure.
 */

/** A run's part in a leg, with fields that only the executing process knows. */
export interface Leg extends RunPart {
  /** Part of the parent run in this leg. */
  above?: Leg | undefined;
  /** `traceparent` of the request that began the leg, if it is known. */
  request?: string | undefined;
  /** Model of the last call, if this process made it. */
  model?: string;
}

/** The part of a leg that a span belongs to. */
type Place = Pick<Leg, 'runId' | 'rootRunId' | 'number'>;

/** Names a span below the run's: of a model call, of a call, or of a wait. */
export function spanBelow(leg: Place, ...path: readonly (string | number)[]): SpanName {
  const { trace, span } = legSpan(leg);
  return { trace, span: [span, ...path].join(':') };
}

/** Names the span of the call in which a sub-agent's run takes part in a leg. */
export function delegateSpan(leg: Leg, parentRunId: string, toolCallId: string): SpanName {
  return spanBelow({ ...leg, runId: parentRunId }, toolCallId, 'delegate');
}

/** Attributes of every span, by which backends can group them. */
export function commonAttributes(
  leg: Pick<Leg, 'agent' | 'sessionId' | 'runId' | 'number'>,
  operation: string,
): SpanAttributes {
  return {
    'gen_ai.operation.name': operation,
    'gen_ai.agent.name': leg.agent,
    'gen_ai.conversation.id': toShownSessionId(rootOf(leg.sessionId)),
    'helix.run.id': leg.runId,
    'helix.leg': leg.number,
    temporalWorkflowId: workflowIdOf(leg.runId),
  };
}

export function usageAttributes(usage: RunUsage | undefined): SpanAttributes {
  if (usage === undefined) return {};
  return {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
    'gen_ai.usage.cache_write.input_tokens': usage.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
  };
}

/** End of a run's part in a leg; fields are absent if they are no longer known. */
export interface LegEnd {
  status?: RunStatus | undefined;
  /** Usage of the whole run. */
  used?: RunUsage | undefined;
  error?: string | undefined;
  atMs: number;
}

/** Creates the span of a run in a leg; a sub-agent's is below the call that delegates to it. */
export function toLegSpan(leg: Leg, end: LegEnd): FinishedSpan {
  const before = leg.number > 1 && leg.parent === undefined;
  const above = leg.parent && delegateSpan(leg, leg.parent.runId, leg.parent.toolCallId);
  const links = before ? [legSpan({ ...leg, number: leg.number - 1 })] : [];
  return {
    title: `invoke_agent ${leg.agent}`,
    id: legSpan(leg),
    parent: above?.span,
    kind: 'internal',
    links: leg.request === undefined || above !== undefined ? links : [...links, leg.request],
    startMs: leg.beganAt,
    endMs: end.atMs,
    attributes: {
      ...commonAttributes(leg, 'invoke_agent'),
      ...usageAttributes(usageSince(end.used, leg.usedBefore)),
      'gen_ai.request.model': leg.model,
      'helix.turn': leg.turn,
      'helix.run.status': end.status,
    },
    error: end.status === 'failed' ? (end.error ?? 'run_failed') : undefined,
  };
}

/** Creates the span of the call above a sub-agent's run, in the same leg and for the same time. */
export function toDelegateSpan(
  above: Leg,
  leg: Leg,
  call: { toolCallId: string; toolName: string },
  end: LegEnd,
): FinishedSpan {
  const { toolCallId, toolName } = call;
  return {
    title: `execute_tool ${toolName}`,
    id: delegateSpan(leg, above.runId, toolCallId),
    parent: legSpan({ ...leg, runId: above.runId }).span,
    kind: 'internal',
    startMs: leg.beganAt,
    endMs: end.atMs,
    attributes: {
      ...commonAttributes(above, 'execute_tool'),
      ...toolAttributes(call),
    },
  };
}

/** Creates the span of a wait in the leg that asked, which it outlasts. */
export function toWaitSpan(wait: Extract<Event, { kind: 'wait_ended' }>): FinishedSpan {
  const { part, call, since, now, how, answer } = wait;
  const isDecision = answer?.decision === 'approved' || answer?.decision === 'denied';
  return {
    title: `helix.wait ${call.toolName}`,
    id: spanBelow(part, call.step, call.toolCallId, 'wait'),
    parent: legSpan(part).span,
    kind: 'internal',
    startMs: since,
    endMs: Math.max(since, now),
    attributes: {
      ...commonAttributes(part, 'helix.wait'),
      ...toolAttributes(call),
      'helix.wait.kind': call.kind,
      'helix.wait.end': how,
      'helix.wait.expired': how === 'expired',
      ...(isDecision && {
        'helix.approval.decision': answer.decision,
        'helix.approval.edited': answer.isEdited,
        'helix.approval.automatic': answer.isAutomatic,
      }),
      'helix.approval.via': answer?.via,
    },
  };
}

export function toolAttributes(call: { toolCallId: string; toolName: string }): SpanAttributes {
  return {
    'gen_ai.tool.name': call.toolName,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': call.toolCallId,
  };
}

/** Returns the usage since `before`; fields that are 0 are absent. */
export function usageSince(
  used: RunUsage | undefined,
  before: RunUsage | undefined,
): RunUsage | undefined {
  if (used === undefined || before === undefined) return used;
  const left: RunUsage = { inputTokens: 0, outputTokens: 0 };
  for (const [name, value] of Object.entries(used) as [keyof RunUsage, number][]) {
    const more = Math.max(0, value - (before[name] ?? 0));
    if (more > 0) left[name] = more;
  }
  return left;
}
