import { formatTimeLeft } from '../../web/src/deadline-note.js';

it.each([
  [-5, '0:00 left'],
  [999, '0:01 left'],
  [61_000, '1:01 left'],
  [3_600_000, '1:00:00 left'],
  [86_400_000 * 3 + 1_000, '3 days and 0:00:01 left'],
])('formatTimeLeft formats %d ms as %j', (ms, text) => expect(formatTimeLeft(ms)).toBe(text));
