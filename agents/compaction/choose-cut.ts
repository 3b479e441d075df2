import type { ModelMessage } from 'ai';
import { partsOf } from './message-text.js';

/**
 * How many of the oldest messages may be replaced by a summary, so that the others take `keepTokens` at
 * most. A call stays with its result, also one that a provider gives in a later reply; a call that waits
 * for its result stays. If the newest messages alone take more, all before them are replaced. Pure.
 *
 * @param from messages that are replaced already
 * @returns `from` if no further message can be replaced
 */
export function chooseCut(
  messages: readonly ModelMessage[],
  from: number,
  keepTokens: number,
  countTokens: (messages: readonly ModelMessage[]) => number,
): number {
  const places = placesBetweenCalls(messages, from);
  let cut = from;
  let kept = 0;
  let counted = messages.length;
  for (const place of places.reverse()) {
    kept += countTokens(messages.slice(place, counted));
    counted = place;
    if (kept > keepTokens && cut > from) break;
    cut = place;
  }
  return cut;
}

/** Where the conversation can be cut: no call before the place has its result after it. */
function placesBetweenCalls(messages: readonly ModelMessage[], from: number): number[] {
  const answered = new Set(
    messages.flatMap((message) =>
      partsOf(message).flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])),
    ),
  );
  const newestQuestion = messages.findLastIndex(({ role }) => role === 'user');
  const open = new Set<string>();
  const places: number[] = [];
  for (const [at, message] of messages.entries()) {
    if (at > from && message.role !== 'tool' && open.size === 0) places.push(at);
    for (const part of partsOf(message)) {
      // What was not answered before the newest question never will be.
      if (part.type === 'tool-call' && (answered.has(part.toolCallId) || at > newestQuestion)) {
        open.add(part.toolCallId);
      }
      if (part.type === 'tool-result') open.delete(part.toolCallId);
    }
  }
  return places;
}
