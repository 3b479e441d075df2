import { stripVTControlCharacters } from 'node:util';

/** Characters that take two columns in a terminal. */
const WIDE =
  /[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{Emoji_Presentation}\uff01-\uff60]/gu;
/** Zero-width characters: marks, joiners and variation selectors. */
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/gu;

/** Aligns rows in columns two spaces apart, for people and for `awk`; cells may contain colours. */
export function drawTable(head: string[] | undefined, rows: string[][]): string {
  const all = head === undefined ? rows : [head, ...rows];
  const widths: number[] = [];
  for (const [at, cell] of all.flatMap((row) => [...row.entries()])) {
    widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  }
  const draw = (row: string[]) =>
    row
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd();
  return all.map(draw).join('\n');
}

function widthOf(cell: string): number {
  const text = stripVTControlCharacters(cell).replace(NARROW, '');
  return Array.from(text).length + (text.match(WIDE)?.length ?? 0);
}
