import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Answered } from '../../protocol/rows.js';
import { storableOf } from './reply-blocks.js';

/** Facts about a reply that its provider reports beside it, as far as they are small. */
export type Reported = Partial<
  Pick<
    Answered,
    'at' | 'responseId' | 'responseModelId' | 'warnings' | 'rawFinishReason' | 'providerMetadata'
  >
>;

/** Limit of reported fields, which may have any size; larger values are dropped. */
const MOST_BYTES = 16 * 1024;

/**
 * Returns the facts in a part of a model's stream. An application's own models may report values that
 * the types forbid. Pure.
 */
export function toReported(part: LanguageModelV4StreamPart): Reported {
  switch (part.type) {
    case 'stream-start': {
      const { warnings } = part as Partial<typeof part>;
      const some = Array.isArray(warnings) && warnings.length > 0;
      return some ? ifKnown({ warnings: smallOf(warnings) }) : {};
    }
    case 'response-metadata':
      return ifKnown({
        responseId: textOf(part.id),
        responseModelId: textOf(part.modelId),
        at: timeOf(part.timestamp),
      });
    case 'finish':
      return ifKnown({
        rawFinishReason: textOf(part.finishReason.raw),
        providerMetadata: smallOf(part.providerMetadata),
      });
    default:
      return {};
  }
}

function ifKnown(fields: Readonly<Record<string, unknown>>): Reported {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known);
}

function textOf(text: unknown): string | undefined {
  return typeof text !== 'string' || text.length > 1_000 ? undefined : text;
}

/** Returns a time only if it is finite, as the record requires. */
function timeOf(time: unknown): number | undefined {
  const ms = time instanceof Date ? time.getTime() : NaN;
  return Number.isFinite(ms) ? ms : undefined;
}

function smallOf<Value>(value: Value): Value | undefined {
  const storable = storableOf(value) as Value | undefined;
  if (storable === undefined) return undefined;
  return Buffer.byteLength(JSON.stringify(storable)) > MOST_BYTES ? undefined : storable;
}
