import type { Row } from '../../protocol/rows.js';

/** Characters of a title. */
const MOST = 80;
/** What is looked at of a message, however long it is. */
const LOOKED_AT = 1_000;

/** What a conversation is called: how its first message begins that people see; '' if that has no text. */
export function titleOf(rows: readonly Row[]): string {
  for (const row of rows) {
    if (row.role !== 'user' || row.hidden === true) continue;
    const said = row.parts.map((part) =>
      part.type === 'text' ? part.text : (part.filename ?? ''),
    );
    const title = said.join(' ').slice(0, LOOKED_AT).toWellFormed().replace(/\s+/g, ' ').trim();
    if (title !== '') return shorten(title);
  }
  return '';
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
