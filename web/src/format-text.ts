/** A piece of a line. Everything stays text, so a reply cannot bring markup of its own. */
export interface Inline {
  kind: 'text' | 'bold' | 'code';
  text: string;
}

export type Block = { kind: 'lines'; lines: Inline[][] } | { kind: 'code'; text: string };

const MARKS = /\*\*(?=\S)(.+?)(?<=\S)\*\*|`([^`]+)`/g;
const FENCE = /^\s*```/;

/** `**bold**` and `code` of one line. An unclosed mark stays as it was written. */
export function formatLine(line: string): Inline[] {
  const pieces: Inline[] = [];
  let from = 0;
  for (const match of line.matchAll(MARKS)) {
    if (match.index > from) pieces.push({ kind: 'text', text: line.slice(from, match.index) });
    const [whole, bold, code] = match;
    if (bold !== undefined) pieces.push({ kind: 'bold', text: bold });
    else if (code !== undefined) pieces.push({ kind: 'code', text: code });
    from = match.index + whole.length;
  }
  if (from < line.length) pieces.push({ kind: 'text', text: line.slice(from) });
  return pieces;
}

/** Paragraphs, divided by empty lines, and fenced code. A fence that is still open runs to the end. */
export function formatText(text: string): Block[] {
  const blocks: Block[] = [];
  let lines: Inline[][] = [];
  let code: string[] | undefined;

  const closeLines = (): void => {
    if (lines.length > 0) blocks.push({ kind: 'lines', lines });
    lines = [];
  };
  const closeCode = (): void => {
    if (code !== undefined) blocks.push({ kind: 'code', text: code.join('\n') });
    code = undefined;
  };

  for (const line of text.split(/\r?\n/)) {
    if (FENCE.test(line)) {
      if (code === undefined) {
        closeLines();
        code = [];
      } else closeCode();
    } else if (code !== undefined) code.push(line);
    else if (line.trim() === '') closeLines();
    else lines.push(formatLine(line));
  }
  closeLines();
  closeCode();
  return blocks;
}
