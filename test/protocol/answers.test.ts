import fc from 'fast-check';
import {
  findExpiredPending,
  formatWebhookToken,
  parseToolAnswer,
  parseWebhookToken,
  readChangedInput,
  writeChangedInput,
} from '../../protocol/answers.js';
import { parseApprovalId } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';

it('the note about a changed input is read back as it was written', () => {
  fc.assert(
    fc.property(
      fc.record({
        by: fc.stringMatching(/^[A-Za-z0-9@. -]{1,20}$/),
        input: fc.jsonValue(),
        outcome: fc.string(),
        failed: fc.boolean(),
      }),
      (changed) => {
        expect(readChangedInput(writeChangedInput(changed))).toEqual(
          JSON.parse(JSON.stringify(changed)),
        );
      },
    ),
  );
});

it('no other text is read as a note about a changed input', () => {
  expect(readChangedInput('The input of this call was changed.')).toBeUndefined();
});

it('the reason of a decision is bounded', () => {
  const denial = { sessionId: 's1', toolCallId: 'c1', kind: 'approval-response', approved: false };
  const of = (chars: number) => () => parseToolAnswer({ ...denial, reason: 'x'.repeat(chars) });
  expect(of(LIMITS.errorTextBytes)).not.toThrow();
  expect(of(LIMITS.errorTextBytes + 1)).toThrow('too large');
});

it('findExpiredPending finds unanswered calls whose deadline has passed', () => {
  const pending = {
    over: { deadline: 1_000 },
    open: { deadline: 1_001 },
    unhurried: {},
    answered: { deadline: 5, response: { row: {} } },
  };
  expect(findExpiredPending(pending, 1_000)).toEqual(['over']);
  expect(findExpiredPending({}, 1_000)).toEqual([]);
  expect(findExpiredPending({ c: { deadline: Date.now() + 60_000 } })).toEqual([]);
});

it.each([
  ['r:1-a::c', { runId: 'r:1-a', toolCallId: 'c' }],
  ['::c', undefined],
  ['r::', undefined],
  ['r', undefined],
])('an approval id %j names %j', (id, expected) => {
  expect(parseApprovalId(id)).toEqual(expected);
});

it.each([
  [{}, true],
  [{ secret: 'x'.repeat(31) }, false],
  [{ toolCallId: '' }, false],
  [{ toolCallId: 'c'.repeat(2_000) }, false],
])('a webhook token with %j is read: %s', (more, isRead) => {
  const token = { sessionId: 's', toolCallId: 'c', secret: 'x'.repeat(32), ...more };
  expect(parseWebhookToken(formatWebhookToken(token))).toEqual(isRead ? token : undefined);
});
