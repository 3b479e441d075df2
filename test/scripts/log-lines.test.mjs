import { expect, test } from '@jest/globals';
import { readable } from '../../scripts/start/log-lines.mjs';

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
])('%s', (line, expected) => {
  expect(readable(line)).toBe(expected);
});
