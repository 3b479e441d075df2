import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { ApplicationFailure } from '@temporalio/common';
import pino from 'pino';
import { readable, showLines } from '../../scripts/start/node-process.mjs';

test.each([
  ['plain text', 'plain text'],
  ['{broken', '{broken'],
  ['{"no":"message"}', '{"no":"message"}'],
  ['{"level":30,"time":1,"pid":2,"name":"api","msg":"listening"}', 'info listening'],
  ['{"level":40,"msg":"slow","ms":12,"run":"s:1-x"}', 'warn slow ms=12 run=s:1-x'],
  [
    '{"level":50,"msg":"no","err":{"message":"down","stack":"Error: down"}}',
    'error no Error: down',
  ],
  [
    '{"level":40,"msg":"Activity failed","meta":{"taskToken":"Cg","attempt":2,"workflowId":"run:s:1-x"},' +
      '"err":{"type":"ApplicationFailure","message":"unknown tool","stack":"ApplicationFailure: unknown tool\\n at x"}}',
    'warn Activity failed attempt=2 workflowId=run:s:1-x unknown tool',
  ],
  ['{"level":30,"msg":"read","meta":"of the report"}', 'info read meta=of the report'],
  [
    '{"level":30,"msg":"moved","meta":{"namespace":"a","taskQueue":"b"}}',
    'info moved meta={"namespace":"a","taskQueue":"b"}',
  ],
])('%s', (line, expected) => {
  expect(readable(line)).toBe(expected);
});

test.each([
  [
    '{"level":30,"msg":"a\\nworker │ info forged","key":"\\u001b[2J\\u009b1m"}',
    'info a\\nworker │ info forged key=\\u{1b}[2J\\u{9b}1m',
  ],
  ['plain \u001b]0;title\u0007', 'plain \\u{1b}]0;title\\u{7}'],
  ['{"level":30,"msg":"\u202eback\u2028"}', 'info \\u{202e}back\\u{2028}'],
])('%j shows what it has of control characters', (line, expected) => {
  expect(readable(line)).toBe(expected);
});

test('only a stack takes more lines, which are marked as its own', async () => {
  const shown = [];
  const stream = new PassThrough();
  showLines(stream, 'worker', (text) => shown.push(text));
  const err = { stack: 'Error: no\napi    │ info forged\u001b[1A\n    at there' };
  stream.end(JSON.stringify({ level: 50, msg: 'bad', err }));
  await once(stream, 'close');
  expect(shown.join('')).toBe(
    [
      'worker │ error bad Error: no',
      '       ┆ api    │ info forged\\u{1b}[1A',
      '       ┆     at there\n',
    ].join('\n'),
  );
});

test('of a failure that Temporal packed, the message and where its causes arose are shown', () => {
  const stream = new PassThrough();
  const cause = new TypeError('no total');
  const err = ApplicationFailure.create({ message: 'charge failed', type: 'TypeError', cause });
  const meta = { sdkComponent: 'worker', taskToken: 'Cg', attempt: 2, error: err };
  pino(stream).warn({ err, meta }, 'Activity failed');
  const [first, ...stack] = readable(String(stream.read()).trim()).split('\n');
  expect(first).toBe('warn Activity failed attempt=2 charge failed: no total');
  expect(stack.join('\n')).toBe(`caused by: ${cause.stack}`);
});
