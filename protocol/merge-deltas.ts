import type { LogEntry, StreamMessage } from './chunk.js';

/**
 * Two adjacent deltas of one block as one chunk, with the fields of the first; undefined if they are
 * not deltas of one block. The arguments are left unchanged. Pure.
 */
export function joinDeltas<Message extends StreamMessage>(
  a: Message,
  b: StreamMessage,
): Message | undefined {
  switch (a.type) {
    case 'text_delta':
      if (b.type !== a.type || !isSameBlock(a, b)) return undefined;
      return { ...a, delta: a.delta + b.delta, ...(isPlain(b) ? undefined : toEnd(b)) };
    case 'thinking':
      if (b.type !== a.type || !isSameBlock(a, b)) return undefined;
      return {
        ...a,
        content: a.content + b.content,
        isComplete: b.isComplete,
        ...(isPlain(b) ? undefined : toEnd(b)),
      };
    case 'tool_arg_stream_delta':
      if (b.type !== a.type || b.toolCallId !== a.toolCallId || !isSameSpeaker(a, b))
        return undefined;
      return { ...a, delta: a.delta + b.delta };
    default:
      return undefined;
  }
}

/**
 * Entries with adjacent deltas of one block joined, under the last one's sequence. An entry between
 * two deltas keeps them apart, so a replay has the same content in far fewer parts. Pure.
 */
export function mergeDeltas(entries: readonly LogEntry[]): LogEntry[] {
  const merged: LogEntry[] = [];
  let last: LogEntry | undefined;
  for (const entry of entries) {
    const message =
      last?.writer === entry.writer ? joinDeltas(last.message, entry.message) : undefined;
    if (message === undefined) {
      last = entry;
      merged.push(entry);
    } else {
      last = { sequence: entry.sequence, writer: entry.writer, message };
      merged[merged.length - 1] = last;
    }
  }
  return merged;
}

interface Speaker {
  agentId: string;
  step: number;
}

interface Block extends Speaker {
  block?: number | undefined;
  isComplete?: boolean | undefined;
  providerMetadata?: unknown;
}

/** What follows a block without a name of its own continues it. */
function isSameBlock(a: Block, b: Block): boolean {
  if (a.isComplete === true || (b.block !== undefined && b.block !== a.block)) return false;
  return isSameSpeaker(a, b);
}

function isPlain({ isComplete = false, providerMetadata }: Block): boolean {
  return !isComplete && providerMetadata === undefined;
}

/** What the end of a block brings. */
function toEnd<Delta extends Block>({ isComplete, providerMetadata }: Delta): Partial<Delta> {
  return {
    ...(isComplete !== undefined && { isComplete }),
    ...(providerMetadata !== undefined && { providerMetadata }),
  } as Partial<Delta>;
}

function isSameSpeaker(a: Speaker, b: Speaker): boolean {
  return a.agentId === b.agentId && a.step === b.step;
}
