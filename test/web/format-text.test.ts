import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatLine, formatText, type Block } from '../../web/src/format-text.js';

describe('formatLine', () => {
  it('formatLine recognises bold and code', () => {
    expect(formatLine('a **b c** and `d`.')).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'bold', text: 'b c' },
      { kind: 'text', text: ' and ' },
      { kind: 'code', text: 'd' },
      { kind: 'text', text: '.' },
    ]);
  });

  it.each(['2 ** 3 ** 4', 'an **open mark', 'a ` b', '****', ''])(
    'formatLine leaves "%s" unchanged',
    (line) => {
      expect(formatLine(line).map(({ kind, text }) => [kind, text])).toEqual(
        line === '' ? [] : [['text', line]],
      );
    },
  );

  it('formatLine keeps markup inside code unchanged', () => {
    expect(formatLine('`**x**`')).toEqual([{ kind: 'code', text: '**x**' }]);
  });

  it('formatLine treats HTML as text', () => {
    expect(formatLine('<img src=x onerror=alert(1)>')).toEqual([
      { kind: 'text', text: '<img src=x onerror=alert(1)>' },
    ]);
  });

  it('formatLine finds the same markup as a regular expression', () => {
    const marks = /\*\*(?=\S)(.+?)(?<=\S)\*\*|`([^`]+)`/g;
    const pieces = fc.constantFrom('*', '**', '`', ' ', 'a', 'b c', '\u{1f600}');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 14 }), (line) => {
        const text = line.join('');
        const found = [...text.matchAll(marks)].map(([, bold, code]) => bold ?? code);
        const shown = formatLine(text).flatMap((piece) =>
          piece.kind === 'text' ? [] : [piece.text],
        );
        expect(shown).toEqual(found);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['**a ', '`', '** ', '**a', '*', '`a **'])(
    'formatLine takes one pass for a megabyte of "%s"',
    (mark) => {
      const line = mark.repeat(1_000_000 / mark.length);
      expect(formatLine(line).length).toBeGreaterThan(0);
    },
    // Hours with a look for the end from each mark.
    30_000,
  );

  it('formatLine loses no character except the marks', () => {
    fc.assert(
      fc.property(fc.string(), (line) => {
        const shown = formatLine(line).map(({ kind, text }) => {
          if (kind === 'bold') return `**${text}**`;
          return kind === 'code' ? `\`${text}\`` : text;
        });
        expect(shown.join('')).toBe(line);
      }),
    );
  });
});

describe('formatText', () => {
  const kinds = (text: string): Block['kind'][] => formatText(text).map(({ kind }) => kind);

  it('formatText divides paragraphs at empty lines and keeps single line breaks', () => {
    const [first, second] = formatText('one\ntwo\n\n\nthree');
    expect(first).toEqual({
      kind: 'lines',
      lines: [[{ kind: 'text', text: 'one' }], [{ kind: 'text', text: 'two' }]],
    });
    expect(second).toEqual({ kind: 'lines', lines: [[{ kind: 'text', text: 'three' }]] });
  });

  it('formatText keeps fenced code together, with its empty lines and marks', () => {
    expect(formatText('see\n```js\na **b**\n\nc\n```\nend')[1]).toEqual({
      kind: 'code',
      text: 'a **b**\n\nc',
    });
    expect(kinds('see\n```js\na\n```\nend')).toEqual(['lines', 'code', 'lines']);
  });

  it('formatText shows a fence that is still being written', () => {
    expect(kinds('```\nhalf')).toEqual(['code']);
  });

  it('formatText returns an empty list for an empty text', () => {
    expect(formatText('\n \n')).toEqual([]);
  });
});
