import type { LogEntry, StreamChunk, StreamMessage } from './chunk.js';

/**
 * Entries with adjacent deltas of one block as one, under the last one's sequence. Whatever comes
 * between two deltas keeps them apart, so a replay says the same in far fewer parts.
 */
export function mergeDeltas(entries: readonly LogEntry[]): LogEntry[] {
  const merged: LogEntry[] = [];
  let last: LogEntry | undefined;
  for (const entry of entries) {
    const message = last?.writer === entry.writer && join(last.message, entry.message);
    if (last === undefined || message === false || message === undefined) {
      last = entry;
      merged.push(entry);
    } else {
      last = { sequence: entry.sequence, writer: entry.writer, message };
      merged[merged.length - 1] = last;
    }
  }
  return merged;
}

function join(a: StreamMessage, b: StreamMessage): StreamMessage | undefined {
  switch (a.type) {
    case 'text_delta':
      if (b.type !== a.type || !isSameSpeaker(a, b)) return undefined;
      return { ...b, delta: a.delta + b.delta };
    case 'thinking':
      if (b.type !== a.type || a.isComplete || !isSameSpeaker(a, b)) return undefined;
      return { ...b, content: a.content + b.content };
    case 'tool_arg_stream_delta':
      if (b.type !== a.type || b.toolCallId !== a.toolCallId || !isSameSpeaker(a, b))
        return undefined;
      return { ...b, delta: a.delta + b.delta };
    default:
      return undefined;
  }
}

function isSameSpeaker(a: StreamChunk, b: StreamChunk): boolean {
  return a.agentId === b.agentId && a.step === b.step;
}
