import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Answered } from '../../protocol/rows.js';
import { storableOf } from './reply-finish.js';

/** What the provider reports beyond its reply may have any size: of more than this nothing is kept. */
const MOST_BYTES = 16 * 1024;

const OUTPUT = new Set<LanguageModelV4StreamPart['type']>([
  'text-delta',
  'reasoning-delta',
  'tool-input-delta',
  'tool-call',
  'file',
  'reasoning-file',
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
          if (lengthOf(part.warnings) > 0) reported.warnings = keptOf(part.warnings);
          break;
        case 'response-metadata':
          reported.responseId = textOf(part.id) ?? reported.responseId;
          reported.responseModelId = textOf(part.modelId) ?? reported.responseModelId;
          reported.at = timeOf(part.timestamp) ?? reported.at;
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

// Models that an application writes itself may report what the types do not allow.

function textOf(text: unknown): string | undefined {
  return typeof text !== 'string' || text.length > 1_000 ? undefined : text;
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

/** What the record takes is a finite number. */
function timeOf(time: unknown): number | undefined {
  const ms = time instanceof Date ? time.getTime() : NaN;
  return Number.isFinite(ms) ? ms : undefined;
}

function keptOf<Value>(value: Value): Value | undefined {
  const storable = storableOf(value) as Value | undefined;
  if (storable === undefined) return undefined;
  return Buffer.byteLength(JSON.stringify(storable)) > MOST_BYTES ? undefined : storable;
}
