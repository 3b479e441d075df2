// What the page shows people before they agree; see mutations.mjs.
const SHAPE = 'test/web/form/to-shape.test.ts';
const PROPOSED = 'test/activities/proposed-calls.test.ts';

export const page = [
  {
    defence: 'Page: a form shows what an input has beyond its schema',
    file: 'web/src/form/to-shape.ts',
    edits: [
      ['[...new Set([...Object.keys(declared), ...Object.keys(given)])]', 'Object.keys(declared)'],
    ],
    suite: SHAPE,
    test: 'toShape people see all that they agree to, whatever the schema says of it',
  },
  {
    defence: "Page: a stranger's schema that refers to itself makes no endless form",
    file: 'web/src/form/to-shape.ts',
    edits: [['place.depth > MOST_DEPTH || place.left.shapes < 0', 'place.depth > MOST_DEPTH']],
    suite: SHAPE,
    test: "toShape a stranger's schema makes no endless form, and its references lead nowhere else",
  },
  {
    defence: 'Calls: a huge schema is not stored with each call that waits',
    file: 'activities/model/describe-call.ts',
    edits: [[' || Buffer.byteLength(text) > MOST_SCHEMA_BYTES', '']],
    suite: PROPOSED,
    test: 'what a model asks for a call that waits for people is kept with what its tool says of itself, if pages can use it',
  },
];
