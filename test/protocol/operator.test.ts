import { readVia } from '../../protocol/actor.js';
import {
  OperatorAnswerBody,
  OperatorResumeBody,
  OperatorRetryBody,
  OperatorRunCountQuery,
  OperatorRunsQuery,
  OperatorWaitingQuery,
} from '../../protocol/operator.js';

describe('requests of operators', () => {
  it('a list of runs has defaults and takes numbers as text', () => {
    expect(OperatorRunsQuery.parse({})).toEqual({ limit: 20 });
    expect(OperatorRunsQuery.parse({ limit: '100', status: 'failed' })).toEqual({
      limit: 100,
      status: 'failed',
    });
    expect(OperatorRunCountQuery.parse({})).toEqual({ groupBy: 'status' });
    expect(OperatorWaitingQuery.parse({ olderThan: '60000' })).toMatchObject({ olderThan: 60_000 });
  });

  it.each([
    { limit: '0' },
    { limit: '101' },
    { status: 'gone' },
    { since: 'yesterday' },
    { query: '' },
    { query: 'x'.repeat(4_097) },
  ])('a list of runs refuses %j', (query) => {
    expect(OperatorRunsQuery.safeParse(query).success).toBe(false);
  });

  it.each([
    { approved: true, input: { amount: 5 }, reason: 'agreed' },
    { approved: false },
    { result: null, reason: 'looked it up' },
    { error: 'not there', reason: 'closed' },
  ])('an answer may be %j', (body) => {
    expect(OperatorAnswerBody.parse(body)).toEqual(body);
  });

  it.each([{}, { reason: 'only' }, { approved: true, by: 'another' }, { result: 1, error: 'x' }])(
    'an answer may not be %j',
    (body) => {
      expect(OperatorAnswerBody.safeParse(body).success).toBe(false);
    },
  );

  it('a repetition names a checkpoint or a message, not both', () => {
    const both = { checkpointId: 'c', messageId: 'm' };
    expect(OperatorRetryBody.safeParse(both).success).toBe(false);
    expect(OperatorRetryBody.parse({ messageId: 'm', reason: 'r' })).toEqual({
      messageId: 'm',
      reason: 'r',
    });
    expect(OperatorResumeBody.parse(undefined)).toEqual({});
  });
});

it.each([
  ['cli', 'cli'],
  ['link', 'api'],
  ['auto', 'api'],
  [undefined, 'api'],
])('a request that names the channel %s came by %s', (named, channel) => {
  // Only the server knows what came by a signed link or by a rule.
  expect(readVia(named)).toBe(channel);
});
