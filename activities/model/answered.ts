import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Answered } from '../../protocol/rows.js';
import { storableOf } from './reply-finish.js';

/** What the provider reports beyond its reply may have any size: of more than this nothing is kept. */
const MOST_BYTES = 16 * 1024;

const OUTPUT = new Set<LanguageModelV4StreamPart['type']>([
  ...(['text-delta', 'reasoning-delta', 'tool-input-delta', 'tool-call', 'file'] as const),
  ...(['reasoning-file'] as const),
]);

/** Hears what a provider reports of its reply, for agents whose own code is given the steps. */
export interface AnswerNotes {
  hear: (part: LanguageModelV4StreamPart) => void;
  /** Undefined until the model was asked. */
  read: () => Answered | undefined;
}

export function createAnswerNotes(): AnswerNotes & {
  begins: (model: { provider: string; modelId: string }) => void;
} {
  let asked: { provider: string; modelId: string; at: number; began: number } | undefined;
  let firstMs: number | undefined;
  let ms: number | undefined;
  const reported: Partial<Answered> = {};
  return {
    begins: ({ provider, modelId }) => {
      asked = { provider, modelId, at: Date.now(), began: performance.now() };
    },
    hear: (part) => {
      const took = (): number => Math.round(performance.now() - (asked?.began ?? 0));
      if (OUTPUT.has(part.type)) firstMs ??= took();
      switch (part.type) {
        case 'stream-start':
          if (part.warnings.length > 0) reported.warnings = keptOf(part.warnings);
          break;
        case 'response-metadata':
          reported.responseId = textOf(part.id) ?? reported.responseId;
          reported.responseModelId = textOf(part.modelId) ?? reported.responseModelId;
          reported.at = part.timestamp?.getTime() ?? reported.at;
          break;
        case 'finish':
          ms = took();
          reported.rawFinishReason = textOf(part.finishReason.raw);
          reported.providerMetadata = keptOf(part.providerMetadata);
          break;
        default:
      }
    },
    read: () => {
      if (asked === undefined) return undefined;
      const { provider, modelId, at } = asked;
      return { provider, modelId, ms, firstMs, ...reported, at: reported.at ?? at };
    },
  };
}

function textOf(text: string | undefined): string | undefined {
  return text === undefined || text.length > 1_000 ? undefined : text;
}

function keptOf<Value>(value: Value): Value | undefined {
  const storable = storableOf(value) as Value | undefined;
  if (storable === undefined) return undefined;
  return Buffer.byteLength(JSON.stringify(storable)) > MOST_BYTES ? undefined : storable;
}
