import fc, { type Arbitrary } from 'fast-check';
import { LIMITS } from '../../../protocol/limits.js';
import { isAssistantMessageId } from '../../../protocol/ids.js';
import { HALF, INHERITED, nested } from '../hostile.js';

/** Pieces of text that break splitting, escaping or searching. */
const PIECES = [
  ...['', ' ', '\n', '\r\n', '\t', '\u0000', '\u001f', '\u007f', '\u2028', '\ufeff', '\uffff'],
  ...[
    '"',
    '\\',
    '\\"',
    '\\u0000',
    '\\ud83d',
    '/',
    '~',
    '~1',
    '%2F',
    ':',
    '::',
    ',',
    '{',
    '}',
    '[',
    ']',
  ],
  ...['🙂', HALF, '\ude42', 'é', 'e\u0301', '中', 'null', 'undefined', 'NaN', '0', '-1', '1e999'],
  ...['msg-1', 'late-a', 's-1:1-abc', 't:a', 'm1', 'state:a', 'run s:1-a', 'told', 'client ', 'n'],
  ...[
    '","parts":',
    '"},{"',
    ',"output":',
    ',"messages":[',
    '"type":"stream_end"',
    '"automatic":true',
  ],
  ...INHERITED,
];

export const text: Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 4 })), {
    maxLength: 4,
  })
  .map((pieces) => pieces.join(''));

/** Possible ids of calls, and names of tools and events. */
export const name: Arbitrary<string> = fc
  .oneof(
    { weight: 8, arbitrary: text.filter((id) => id !== '') },
    { weight: 1, arbitrary: fc.constantFrom(...INHERITED) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('x', '\u0000', '🙂', '"')
        .map((one) => one.repeat(LIMITS.idChars / one.length)),
    },
  )
  .filter((id) => id.length <= LIMITS.idChars);

export const messageId = name.filter((id) => !isAssistantMessageId(id));

const number = fc.oneof(
  fc.constantFrom(0, -0, 2 ** 53, 2 ** 53 + 2, -(2 ** 53), 1234567890123456, 123456789012345680000),
  fc.constantFrom(0.1, 0.12345678901234568, 1e21, 1e-7, 5e-324, Number.MAX_VALUE),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
);

const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.constantFrom(null, true, false, [], {}), number, text),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(text, tie('tree'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

/** Any JSON value; some are as deep as allowed. */
export const value: Arbitrary<unknown> = fc.oneof(
  { weight: 12, arbitrary: tree },
  { weight: 1, arbitrary: fc.constant(nested(LIMITS.jsonDepth - 1)) },
);

/** A JSON object of that kind. */
export const object: Arbitrary<Record<string, unknown>> = fc.oneof(
  { weight: 12, arbitrary: fc.dictionary(text, tree, { maxKeys: 4, noNullPrototype: true }) },
  { weight: 1, arbitrary: fc.constant(nested(LIMITS.jsonDepth - 1)) },
);
