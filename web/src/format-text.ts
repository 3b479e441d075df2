/** A piece of a line. Everything stays text, so a reply cannot bring markup of its own. */
export interface Inline {
  kind: 'text' | 'bold' | 'code';
  text: string;
}

export type Block = { kind: 'lines'; lines: Inline[][] } | { kind: 'code'; text: string };

const FENCE = /^\s*```/;

/**
 * `**bold**` and `code` of one line. An unclosed mark stays as it was written. One pass whatever the
 * line is: replies come from models, and a pattern that looks for its end from each beginning took
 * seconds for a line of 150 KB.
 */
export function formatLine(line: string): Inline[] {
  const pieces: Inline[] = [];
  const boldEnd = createFinder((from) => findBoldEnd(line, from));
  const codeEnd = createFinder((from) => line.indexOf('`', from));
  let from = 0;

  const take = (kind: Inline['kind'], at: number, length: number, end: number): void => {
    if (at > from) pieces.push({ kind: 'text', text: line.slice(from, at) });
    pieces.push({ kind, text: line.slice(at + length, end) });
    from = end + length;
  };

  for (let at = nextMark(line, 0); at >= 0; at = nextMark(line, at)) {
    const isCode = line[at] === '`';
    const end = isCode ? codeEnd(at + 1) : startsBold(line, at) ? boldEnd(at + 3) : -1;
    if (end > at + 1) take(isCode ? 'code' : 'bold', at, isCode ? 1 : 2, end);
    at = end > at + 1 ? from : at + 1;
  }
  if (from < line.length) pieces.push({ kind: 'text', text: line.slice(from) });
  return pieces;
}

function nextMark(line: string, from: number): number {
  for (let at = from; at < line.length; at += 1) {
    if (line[at] === '`' || (line[at] === '*' && line[at + 1] === '*')) return at;
  }
  return -1;
}

function startsBold(line: string, at: number): boolean {
  return /\S/.test(line[at + 2] ?? ' ');
}

function findBoldEnd(line: string, from: number): number {
  for (let at = line.indexOf('**', from); at >= 0; at = line.indexOf('**', at + 1)) {
    if (/\S/.test(line[at - 1] ?? ' ')) return at;
  }
  return -1;
}

/** Remembers what was found, so that nothing is passed over twice; positions only grow. */
function createFinder(find: (from: number) => number): (from: number) => number {
  let found = 0;
  return (from) => {
    if (found >= 0 && found < from) found = find(from);
    return found;
  };
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
