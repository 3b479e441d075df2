/** One piece of streamed text; the function form is called when the piece is due. */
export type Piece = string | (() => string);

export interface ReplyCall {
  readonly tool: string;
  readonly id: string;
  /** Pieces of the input's JSON text to stream; empty if it is not streamed. */
  readonly inputPieces: readonly string[];
  /** The whole input as JSON text. */
  readonly input: string;
}

/** A provider error in place of the rest of a reply. */
export interface ReplyFailure {
  /** HTTP status of the provider's answer. */
  readonly status: number;
  readonly retryAfterMs?: number | undefined;
  /** Pieces streamed before the failure; at 0 the call is refused outright. */
  readonly afterPieces: number;
}

/** One call of a model without a provider: its text, its tool calls, and their pace. */
export interface Reply {
  /** Silence before the first part, in ms. */
  readonly hangMs: number;
  /** Time between two pieces, in ms. */
  readonly everyMs: number;
  readonly think?: string | undefined;
  readonly pieces: readonly Piece[];
  readonly calls: readonly ReplyCall[];
  readonly failure?: ReplyFailure | undefined;
}

/** Creates a reply with these parts; without any, it is empty and immediate. */
export function createReply(parts: Partial<Reply>): Reply {
  return { hangMs: 0, everyMs: 0, pieces: [], calls: [], ...parts };
}

/**
 * Cuts a text into `count` pieces of near-equal length that join to the text. No piece is empty and
 * no code point is split, so a short text gives fewer pieces.
 */
export function cutText(text: string, count: number): string[] {
  const points = Array.from(text);
  const pieces = Math.min(count, points.length);
  return Array.from({ length: pieces }, (_, index) => {
    const from = Math.floor((index * points.length) / pieces);
    const to = Math.floor(((index + 1) * points.length) / pieces);
    return points.slice(from, to).join('');
  });
}

/** Cuts a text into words, each with the white space that follows it. */
export function cutWords(text: string): string[] {
  return text.match(/^\s+|\S+\s*/g) ?? [];
}
