import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Answered } from '../../protocol/rows.js';
import type { UsedModel } from '../../protocol/telemetry.js';
import type { ActivityDeps } from '../deps.js';
import type { StepMiddleware } from './middleware.js';
import { storableOf } from './reply-blocks.js';
import { readsSteps } from './step-records.js';

/** Measures each request for the meter, the listeners, and the reply's row. */
export function timing({ meter }: Pick<ActivityDeps, 'meter'>): StepMiddleware {
  return ({ ref, attempt, agent, progress }) => {
    const { sessionId, runId } = ref;
    return async (request, next) => {
      const notes = readsSteps(agent) ? new AnswerNotes() : undefined;
      const call: { asked?: UsedModel; firstMs?: number; ms?: number; code?: string } = {};
      let beganAt = 0;
      let beganMs = 0;
      request.listeners.push({
        asked: ({ model }) => {
          progress.model = model.modelId;
          // The AI SDK names a provider with its endpoint: `openai.responses`.
          const [provider = model.provider] = model.provider.split('.');
          call.asked = { agent: ref.agent, provider, model: model.modelId };
          beganAt = Date.now();
          beganMs = performance.now();
          notes?.begins(model);
        },
        part: (part) => {
          call.firstMs ??= performance.now() - beganMs;
          notes?.hear(part);
        },
        recorded: (usage) => {
          // A cut call ends here.
          const { asked, firstMs, code, ms = performance.now() - beganMs } = call;
          if (asked === undefined) return;
          const { provider, model } = asked;
          const timed = { provider, model, beganAt, ms, firstMs, code, usage };
          for (const listener of request.listeners) listener.timed?.(timed);
          if (usage !== undefined) {
            meter?.({ kind: 'tokens_used', run: { sessionId, runId }, ...asked, usage });
          }
        },
      });
      request.answered = () => notes?.read();
      const answer = await next(request);
      const code = answer.failure?.code;
      const { asked, firstMs } = call;
      // A cut call is no failure of the provider.
      const isEnded = code !== undefined || attempt.cutReason() === undefined;
      if (asked === undefined || !isEnded) return answer;
      const ms = performance.now() - beganMs;
      Object.assign(call, { ms, code });
      const firstSeconds = firstMs === undefined ? undefined : firstMs / 1_000;
      meter?.({ kind: 'model_called', ...asked, seconds: ms / 1_000, firstSeconds, code });
      return answer;
    };
  };
}

/** Limit of reported fields, which may have any size; larger values are dropped. */
const MOST_BYTES = 16 * 1024;

const OUTPUT = new Set<LanguageModelV4StreamPart['type']>([
  'text-delta',
  'reasoning-delta',
  'tool-input-delta',
  'tool-call',
  'file',
  'reasoning-file',
]);

/** Collects a provider's report on its reply, for agents whose own code reads the steps. */
export class AnswerNotes {
  #asked: { provider: string; modelId: string; at: number } | undefined;
  #began = 0;
  #firstMs: number | undefined;
  #ms: number | undefined;
  readonly #reported: Partial<Answered> = {};

  begins({ provider, modelId }: { provider: string; modelId: string }): void {
    this.#asked = { provider, modelId, at: Date.now() };
    this.#began = performance.now();
  }

  hear(part: LanguageModelV4StreamPart): void {
    const reported = this.#reported;
    if (OUTPUT.has(part.type)) this.#firstMs ??= this.#took();
    switch (part.type) {
      case 'stream-start':
        if (lengthOf(part.warnings) > 0) reported.warnings = keptOf(part.warnings);
        break;
      case 'response-metadata':
        reported.responseId = textOf(part.id) ?? reported.responseId;
        reported.responseModelId = textOf(part.modelId) ?? reported.responseModelId;
        reported.at = timeOf(part.timestamp) ?? reported.at;
        break;
      case 'finish':
        this.#ms = this.#took();
        reported.rawFinishReason = textOf(part.finishReason.raw);
        reported.providerMetadata = keptOf(part.providerMetadata);
        break;
      default:
    }
  }

  /** Returns undefined until the model was asked. */
  read(): Answered | undefined {
    const asked = this.#asked;
    const times = { ms: this.#ms, firstMs: this.#firstMs };
    return asked && { ...asked, ...times, ...this.#reported, at: this.#reported.at ?? asked.at };
  }

  #took(): number {
    return Math.round(performance.now() - this.#began);
  }
}

// An application's own models may report values that the types forbid.

function textOf(text: unknown): string | undefined {
  return typeof text !== 'string' || text.length > 1_000 ? undefined : text;
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

/** Returns a time only if it is finite, as the record requires. */
function timeOf(time: unknown): number | undefined {
  const ms = time instanceof Date ? time.getTime() : NaN;
  return Number.isFinite(ms) ? ms : undefined;
}

function keptOf<Value>(value: Value): Value | undefined {
  const storable = storableOf(value) as Value | undefined;
  if (storable === undefined) return undefined;
  return Buffer.byteLength(JSON.stringify(storable)) > MOST_BYTES ? undefined : storable;
}
