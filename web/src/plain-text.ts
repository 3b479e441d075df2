/** Longer texts and paragraphs, in characters, are not read as Markdown. */
const LONGEST_TEXT = 100_000;
const LONGEST_PARAGRAPH = 5_000;
/** Quotes and lists nested deeper than people can read. */
const DEEP = /^(?:[ \t]*(?:>|[-*+]|\d+[.)])){50}/m;
const FENCE = /^ {0,3}(?:```|~~~)/;
/** Lines that end the paragraph before them: blank lines, headings, items, quotes, table rows. */
const NEW_BLOCK = /^\s*(?:$|#|[-*+>|]|\d+[.)])/;

/**
 * Returns true if a text is shown literally. The page parses a reply again for each chunk, and some marks
 * take quadratic time in the length of their paragraph, or one stack frame each.
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
