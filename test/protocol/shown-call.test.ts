import { createHash } from 'node:crypto';
import { hashInput, isAsShown, type ShownCall } from '../../protocol/shown-call.js';

it('the hash of an input does not depend on the order of its keys', () => {
  const [input, copy] = [
    '{"to":{"b":1,"__proto__":2,"7":[{"y":1,"x":2}]},"a":0}',
    '{"a":0,"to":{"7":[{"x":2,"y":1}],"__proto__":2,"b":1}}',
  ];
  expect(hashInput(JSON.parse(input))).toBe(hashInput(JSON.parse(copy)));
  expect(hashInput([1, 2])).not.toBe(hashInput([2, 1]));
  expect(hashInput(JSON.parse('{"__proto__":1}'))).not.toBe(hashInput({}));
});

it('the hash of an input is the SHA-256 of its JSON, at every length of a block', () => {
  const inputs: unknown[] = [undefined, null, {}, { amount: 5 }, '\ud800 é 🎉', [1e21, -0]];
  for (let length = 50; length < 70; length += 1) inputs.push('x'.repeat(length));
  inputs.push('y'.repeat(100_000));
  for (const input of inputs) {
    const json = JSON.stringify(input ?? null);
    expect(hashInput(input)).toBe(createHash('sha256').update(json).digest('base64url'));
  }
});

const approvalId = 'r::c';
const inputHash = hashInput({ amount: 5 });
const approvers = {};

it.each<[ShownCall, { approvers?: object; edited?: object }, isPosted: boolean, boolean]>([
  [{}, {}, false, true],
  [{}, { approvers }, false, false],
  [{ approvalId: 'r::d', inputHash }, {}, false, false],
  [{ inputHash: hashInput({ amount: 6 }) }, {}, false, false],
  [{ inputHash }, {}, false, true],
  [{ inputHash }, { approvers }, false, false],
  [{ inputHash }, { approvers }, true, true],
  [{ approvalId, inputHash }, { approvers, edited: {} }, false, true],
  [{ approvalId }, { approvers }, false, false],
  [{ approvalId }, { approvers }, true, true],
  [{ approvalId }, { approvers, edited: {} }, true, false],
])(
  'an answer that names %j, to a call with %j, in a posted message: %s',
  (shown, more, ...rest) => {
    const [isPosted, expected] = rest;
    const call = { runId: 'r', toolCallId: 'c', input: { amount: 5 }, ...more };
    expect(isAsShown(shown, call, isPosted)).toBe(expected);
  },
);
