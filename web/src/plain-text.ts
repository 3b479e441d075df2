/** Characters of a text, and of one paragraph of it, that are still read as Markdown. */
const LONGEST_TEXT = 100_000;
const LONGEST_PARAGRAPH = 5_000;
/** Quotes and lists in each other, deeper than anything that people can read. */
const DEEP = /^(?:[ \t]*(?:>|[-*+]|\d+[.)])){50}/m;
const FENCE = /^ {0,3}(?:```|~~~)/;
/** Lines that end the paragraph before them: empty ones, headings, items, quotes, rows of a table. */
const NEW_BLOCK = /^\s*(?:$|#|[-*+>|]|\d+[.)])/;

/**
 * Whether a text is shown as it is. The page reads a reply again with each piece that arrives, and
 * some marks take the square of their paragraph's length to read, or a frame of the stack each.
 */
export function isPlain(text: string): boolean {
  if (text.length > LONGEST_TEXT || DEEP.test(text)) return true;
  let paragraph = 0;
  let isCode = false;
  for (const line of text.split('\n')) {
    if (FENCE.test(line)) isCode = !isCode;
    paragraph = isCode || NEW_BLOCK.test(line) ? 0 : paragraph;
    if (!isCode) paragraph += line.length;
    if (paragraph > LONGEST_PARAGRAPH) return true;
  }
  return false;
}
