import type {
  LanguageModelV4FinishReason,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { createPacer, pause } from './pause.js';
import { toProviderFailure } from './provider-failure.js';
import type { Reply } from './reply.js';
import { toUsage } from './usage.js';

/** What a reply's stream says about the call that it answers. */
export interface ReplyCallInfo {
  readonly modelId: string;
  readonly prompt: LanguageModelV4Prompt;
  /** Ends the reply at once, by throwing the signal's reason. */
  readonly signal: AbortSignal;
}

type Part = LanguageModelV4StreamPart;

/** Performs a reply: the parts of a model's stream, in a provider's order, each when it is due. */
export async function* toReplyParts(
  reply: Reply,
  { modelId, prompt, signal }: ReplyCallInfo,
): AsyncGenerator<Part, void, undefined> {
  const { failure, hangMs, everyMs } = reply;
  await pause(hangMs, signal);
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'response-metadata', id: crypto.randomUUID(), timestamp: new Date(), modelId };

  const awaitDue = createPacer(everyMs, signal);
  const budget = failure?.afterPieces ?? Infinity;
  let sent = 0;
  let said = 0;
  for (const { part, isPiece } of toContentParts(reply)) {
    if (isPiece) {
      // A reply that runs out of pieces before its failure fails all the same, at its end.
      if (sent === budget) break;
      await awaitDue();
      sent += 1;
    }
    const due = part();
    if (due.type === 'text-delta') said += due.delta.length;
    yield due;
  }

  if (failure !== undefined) yield { type: 'error', error: toProviderFailure(failure) };
  yield {
    type: 'finish',
    usage: toUsage(prompt, reply, said),
    finishReason: toFinishReason(reply),
  };
}

/** A part to come: made when it is due. Pieces are paced and counted, other parts go with them. */
interface ContentPart {
  readonly part: () => Part;
  readonly isPiece: boolean;
}

function* toContentParts({ think, pieces, calls }: Reply): Generator<ContentPart> {
  const now = (part: Part): ContentPart => ({ part: () => part, isPiece: false });
  if (think) {
    yield now({ type: 'reasoning-start', id: 'reasoning-1' });
    yield now({ type: 'reasoning-delta', id: 'reasoning-1', delta: think });
    yield now({ type: 'reasoning-end', id: 'reasoning-1' });
  }
  if (pieces.length > 0) {
    yield now({ type: 'text-start', id: 'text-1' });
    for (const piece of pieces) {
      const say = typeof piece === 'string' ? () => piece : piece;
      yield { part: () => ({ type: 'text-delta', id: 'text-1', delta: say() }), isPiece: true };
    }
    yield now({ type: 'text-end', id: 'text-1' });
  }
  for (const { id, tool, input, inputPieces } of calls) {
    if (inputPieces.length > 0) {
      yield now({ type: 'tool-input-start', id, toolName: tool });
      for (const delta of inputPieces) {
        yield { part: () => ({ type: 'tool-input-delta', id, delta }), isPiece: true };
      }
      yield now({ type: 'tool-input-end', id });
    }
    yield now({ type: 'tool-call', toolCallId: id, toolName: tool, input });
  }
}

function toFinishReason({ failure, calls }: Reply): LanguageModelV4FinishReason {
  if (failure !== undefined) return { unified: 'error', raw: String(failure.status) };
  return calls.length > 0
    ? { unified: 'tool-calls', raw: 'tool_calls' }
    : { unified: 'stop', raw: 'stop' };
}
