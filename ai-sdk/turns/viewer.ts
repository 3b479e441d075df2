import type { ChunkOf, LogEntry } from '../../protocol/chunk.js';

type Question = ChunkOf<'tool_approval_request'>;

/** The person for whom a turn is read. */
export interface Viewer {
  /** The same for viewers who may decide the same, so that they can share a turn's frames. */
  key: string;
  /** False for questions that everyone may answer who can read them. */
  judges: (question: Question) => boolean;
  /** Whether the viewer's approval would be taken. */
  mayDecide: (question: Question) => Promise<boolean>;
}

/** The questions among the entries that have to be judged for this viewer; mostly none. */
export function toJudged(viewer: Viewer, entries: readonly LogEntry[]): Question[] {
  const found: Question[] = [];
  for (const { message } of entries) {
    if (message.type !== 'tool_approval_request' || message.isAutomatic === true) continue;
    if (viewer.judges(message)) found.push(message);
  }
  return found;
}
