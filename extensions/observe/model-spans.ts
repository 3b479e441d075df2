import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import type {
  ClaimedStep,
  ModelCall,
  ModelRequest,
  StepMiddleware,
} from '../../activities/extension.js';
import { toPartialInput } from '../../protocol/reply-fold.js';
import type { AssistantPart } from '../../protocol/rows.js';
import { legSpan, providerOf } from '../../protocol/telemetry.js';
import { addUsage } from '../../store/contract/usage.js';
import { commonAttributes, spanBelow, usageAttributes, usageSince } from './leg-spans.js';
import type { LegTraces } from './leg-traces.js';

/** Writes a span for each request, above the spans of other libraries, if the run is traced. */
export function modelSpans({ tracer, current }: LegTraces): StepMiddleware {
  return (step) => {
    const { ref, attempt, agent, progress } = step;
    writeLostAttempts(step);
    return async (request, next) => {
      const leg = current();
      if (leg === undefined) return next(request);
      const number = `${String(attempt.token)}.${String(progress.failures)}`;
      const id = spanBelow(leg, ref.step, 'model', number);
      request.recorded.push((usage) => {
        const { call, times, reply } = request;
        if (call === undefined || times.began === undefined) return;
        // A cut call ends here.
        const { began, firstMs, code, ms = performance.now() - began.clockMs } = times;
        const { temperature, maxOutputTokens } = agent.llmConfig;
        const { modelId: model } = call.model;
        const finish = reply.finish();
        const server = serverOf(call.model);
        leg.model = model;
        leg.used = addUsage(leg.used, usage);
        tracer.write({
          title: `chat ${model}`,
          id,
          parent: legSpan(leg).span,
          kind: 'client',
          startMs: began.at,
          endMs: began.at + ms,
          attributes: {
            ...commonAttributes(leg, 'chat'),
            ...usageAttributes(usage),
            'gen_ai.provider.name': providerOf(call.model),
            'server.address': server?.address,
            'server.port': server?.port,
            'gen_ai.request.model': model,
            'gen_ai.request.stream': true,
            'gen_ai.request.temperature': temperature,
            'gen_ai.request.max_tokens': maxOutputTokens,
            'gen_ai.response.id': reply.reported.responseId,
            'gen_ai.response.model': reply.reported.responseModelId,
            'gen_ai.response.finish_reasons': finish && [finish.reason],
            'gen_ai.response.time_to_first_chunk':
              firstMs === undefined ? undefined : firstMs / 1000,
            'helix.step': ref.step,
          },
          error: code,
          content: () => toChatContent(call.options, request),
        });
      });
      return tracer.within(id, () => next(request));
    };
  };

  /**
   * Writes a span for lost attempts, whose streamed output the following claim charges to the run.
   * Nothing else is known of them.
   */
  function writeLostAttempts({ ref, attempt, claim }: ClaimedStep): void {
    const leg = current();
    if (leg === undefined) return;
    const lost = usageSince(claim.usage, leg.used);
    leg.used = claim.usage;
    if (lost === undefined || lost.outputTokens === 0) return;
    const now = Date.now();
    tracer.write({
      title: 'chat lost attempt',
      id: spanBelow(leg, ref.step, 'model', attempt.token, 'lost'),
      parent: legSpan(leg).span,
      kind: 'client',
      startMs: now,
      endMs: now,
      attributes: {
        ...commonAttributes(leg, 'chat'),
        ...usageAttributes(lost),
        'helix.step': ref.step,
        'helix.usage.estimated': true,
      },
      error: 'attempt_lost',
    });
  }
}

/** Reads the host and port of an AI SDK model; they are not in its interface. */
export function serverOf(model: object): { address: string; port: number } | undefined {
  const { config } = model as { config?: { baseURL?: unknown; url?: unknown } };
  if (typeof config !== 'object') return undefined;
  try {
    const { hostname, port, protocol } = new URL(addressIn(config, model));
    return {
      address: hostname,
      port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    };
  } catch {
    return undefined;
  }
}

type ToUrl = (of: { path: string; modelId: string | undefined }) => unknown;

function addressIn({ baseURL, url }: { baseURL?: unknown; url?: unknown }, model: object): string {
  if (typeof baseURL === 'string') return baseURL;
  if (typeof url !== 'function') return '';
  const { modelId } = model as { modelId?: string };
  return String((url as ToUrl)({ path: '/', modelId }));
}

type Message = LanguageModelV4Prompt[number];
type Part = Exclude<Message['content'], string>[number];

/**
 * Returns messages of a model call in the form of OpenTelemetry's conventions. Files are named, not
 * copied. Pure.
 */
function toChatContent(
  { prompt, tools }: ModelCall['options'],
  { reply }: ModelRequest,
): Record<string, unknown> {
  const system = prompt.filter(({ role }) => role === 'system');
  const messages = prompt.filter(({ role }) => role !== 'system');
  const output = {
    role: 'assistant',
    // The commit of the step sets the inputs of the reply's calls.
    parts: reply.fold.parts.map((part) => {
      if (part.type !== 'tool-call') return toPart(part);
      const made = reply.calls.find(({ toolCallId }) => toolCallId === part.toolCallId);
      const text = made?.input ?? reply.fold.argumentText.get(part.toolCallId);
      return toPart({ ...part, input: toPartialInput(text) });
    }),
    finish_reason: reply.finish()?.reason,
  };
  return {
    'gen_ai.system_instructions':
      system.length === 0 ? undefined : system.flatMap(({ content }) => toParts(content)),
    'gen_ai.input.messages': messages.map(({ role, content }) => ({
      role,
      parts: toParts(content),
    })),
    'gen_ai.output.messages': [output],
    'gen_ai.tool.definitions': tools?.map((tool) =>
      tool.type === 'function'
        ? {
            type: 'function',
            name: tool.name,
            description: tool.description,
            parameters: tool.inputSchema,
          }
        : { type: tool.type, name: tool.name },
    ),
  };
}

function toParts(content: Message['content']): unknown[] {
  return typeof content === 'string' ? [{ type: 'text', content }] : content.map(toPart);
}

function toPart(part: Part | AssistantPart): unknown {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, content: part.text };
    case 'tool-call': {
      const { toolCallId: id, toolName: name, input } = part;
      return { type: 'tool_call', id, name, arguments: input };
    }
    case 'tool-result':
      return { type: 'tool_call_response', id: part.toolCallId, response: part.output };
    default:
      return { type: part.type };
  }
}
