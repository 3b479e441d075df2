import type { Row } from '../../protocol/rows.js';

/** Maximum length of a title, characters. */
const MAX = 80;
/** Only this many characters of a message are read. */
const LOOKED_AT = 1_000;

/** Returns a conversation's title: the beginning of its first visible message with text, or ''. */
export function titleOf(rows: readonly Row[]): string {
  for (const row of rows) {
    if (row.role !== 'user' || row.hidden === true) continue;
    const texts = row.parts.map((part) =>
      part.type === 'text' ? part.text : (part.filename ?? ''),
    );
    const title = beginningOf(texts);
    if (title !== '') return title;
  }
  return '';
}

/** Returns the beginning of the texts in one line. Pure. */
export function beginningOf(texts: readonly string[]): string {
  return shorten(texts.join(' ').slice(0, LOOKED_AT).toWellFormed().replace(/\s+/g, ' ').trim());
}

function shorten(title: string): string {
  const characters = Array.from(title);
  return characters.length <= MAX
    ? title
    : `${characters
        .slice(0, MAX - 1)
        .join('')
        .trimEnd()}…`;
}
