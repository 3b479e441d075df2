/**
 * Cuts a text into `count` pieces of near-equal length that join to the text again. No piece is
 * empty and no code point is split, so a short text gives fewer pieces.
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

/** Cuts a text into its words, each with the white space that follows it. */
export function cutWords(text: string): string[] {
  return text.match(/^\s+|\S+\s*/g) ?? [];
}
