import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { AgentDefinition } from '../../agents/definitions.js';
import type { StepRef } from '../../protocol/activities.js';
import { toPartialInput } from '../../protocol/reply-fold.js';
import type { RunUsage } from '../../stores/contract/runs.js';
import {
  commonAttributes,
  legSpan,
  spanBelow,
  usageAttributes,
} from '../../stores/record/leg-spans.js';
import type { LegTraces } from '../../stores/record/leg-traces.js';
import { usageSince } from '../../stores/record/legs.js';
import { addUsage } from '../../stores/record/run-usage.js';
import type { Attempt } from '../attempt.js';
import type { TimedCall } from './call-timer.js';
import { toChatContent } from './chat-content.js';
import type { StepReply } from './reply-types.js';

type Options = Omit<LanguageModelV4CallOptions, 'abortSignal'>;

/** The span of one call of a model. */
export interface ChatSpan {
  /** Calls the model; spans of other libraries stand below this one. */
  within: <T>(options: Options, call: () => Promise<T>) => Promise<T>;
  /** Hears what the provider says of its reply. */
  hearing: (
    next: (part: LanguageModelV4StreamPart) => void,
  ) => (part: LanguageModelV4StreamPart) => void;
  /** The record has what the call used. */
  write: (call: TimedCall) => void;
}

interface ChatOfStep {
  ref: StepRef;
  attempt: Pick<Attempt, 'token'>;
  agent: Pick<AgentDefinition, 'llmConfig'>;
  reply: Pick<StepReply, 'fold' | 'calls' | 'finish'>;
  progress: { failures: number };
}

/** Undefined if nothing is traced. */
export function createChatSpan(
  traces: LegTraces | undefined,
  { ref, attempt, agent, reply, progress }: ChatOfStep,
): ChatSpan | undefined {
  const leg = traces?.current();
  if (traces === undefined || leg === undefined) return undefined;
  const number = `${String(attempt.token)}.${String(progress.failures)}`;
  const id = spanBelow(leg, ref.step, 'model', number);
  let asked: Options | undefined;
  let metadata: Extract<LanguageModelV4StreamPart, { type: 'response-metadata' }> | undefined;
  const inputOf = (toolCallId: string): unknown => {
    const made = reply.calls.find((call) => call.toolCallId === toolCallId);
    return toPartialInput(made?.input ?? reply.fold.argumentText.get(toolCallId));
  };
  return {
    within: (options, call) => {
      asked = options;
      return traces.tracer.within(id, call);
    },
    hearing: (next) => (part) => {
      next(part);
      if (part.type === 'response-metadata') metadata = part;
    },
    write: ({ provider, model, beganAt, ms, firstMs, code, usage, server }) => {
      const { temperature, maxOutputTokens } = agent.llmConfig;
      const finish = reply.finish();
      const prompted = asked;
      leg.model = model;
      leg.used = addUsage(leg.used, usage);
      traces.write({
        title: `chat ${model}`,
        id,
        parent: legSpan(leg).span,
        kind: 'client',
        startMs: beganAt,
        endMs: beganAt + ms,
        attributes: {
          ...commonAttributes(leg, 'chat'),
          ...usageAttributes(usage),
          'gen_ai.provider.name': provider,
          'server.address': server?.address,
          'server.port': server?.port,
          'gen_ai.request.model': model,
          'gen_ai.request.stream': true,
          'gen_ai.request.temperature': temperature,
          'gen_ai.request.max_tokens': maxOutputTokens,
          'gen_ai.response.id': metadata?.id,
          'gen_ai.response.model': metadata?.modelId,
          'gen_ai.response.finish_reasons': finish && [finish.reason],
          'gen_ai.response.time_to_first_chunk': firstMs === undefined ? undefined : firstMs / 1000,
          'helix.step': ref.step,
        },
        error: code,
        content:
          prompted === undefined
            ? undefined
            : () =>
                toChatContent(
                  prompted,
                  { parts: reply.fold.parts, finishReason: finish?.reason },
                  inputOf,
                ),
      });
    },
  };
}

/**
 * What attempts streamed whose worker was lost is charged to the run by the claim that follows. Only
 * that much is known of them.
 */
export function writeLostAttempts(
  traces: LegTraces | undefined,
  { step }: StepRef,
  { token }: Pick<Attempt, 'token'>,
  used: RunUsage | undefined,
): void {
  const leg = traces?.current();
  if (leg === undefined) return;
  const lost = usageSince(used, leg.used);
  leg.used = used;
  if (lost === undefined || lost.outputTokens === 0) return;
  const now = Date.now();
  traces?.write({
    title: 'chat lost attempt',
    id: spanBelow(leg, step, 'model', token, 'lost'),
    parent: legSpan(leg).span,
    kind: 'client',
    startMs: now,
    endMs: now,
    attributes: {
      ...commonAttributes(leg, 'chat'),
      ...usageAttributes(lost),
      'helix.step': step,
      'helix.usage.estimated': true,
    },
    error: 'attempt_lost',
  });
}
