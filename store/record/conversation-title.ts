import type { Row } from '../../protocol/rows.js';

/** Characters of a title. */
const MOST = 80;
/** Only this much of a message is read. */
const LOOKED_AT = 1_000;

/** A conversation's title: the beginning of its first visible message with text; '' without one. */
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

/** The beginning of texts, in one line. Pure. */
export function beginningOf(texts: readonly string[]): string {
  return shorten(texts.join(' ').slice(0, LOOKED_AT).toWellFormed().replace(/\s+/g, ' ').trim());
}

function shorten(title: string): string {
  const characters = Array.from(title);
  return characters.length <= MOST
    ? title
    : `${characters
        .slice(0, MOST - 1)
        .join('')
        .trimEnd()}…`;
}
