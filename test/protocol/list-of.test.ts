import { z } from 'zod';
import { endOfList, listOf } from '../../protocol/http.js';

let looks = 0;
const item = z.unknown().refine((value) => {
  looks += 1;
  return value === 'good';
}, 'is not good');
const list = listOf(item, 100);

it('a list has the values of its items', () => {
  expect(list.parse(['good', 'good'])).toEqual(['good', 'good']);
  expect(list.parse([])).toEqual([]);
});

it('a list is checked until there are five faults', () => {
  looks = 0;
  const { error } = list.safeParse(['good', ...Array.from({ length: 90 }, () => 'bad')]);
  expect(looks).toBe(6);
  expect(error?.issues.map(({ path, message }) => [path, message])).toEqual(
    [1, 2, 3, 4, 5].map((at) => [[at], 'is not good']),
  );
});

it('a list that is too long is refused before its items are checked', () => {
  looks = 0;
  expect(list.safeParse(Array.from({ length: 101 }, () => 'good')).success).toBe(false);
  expect(looks).toBe(0);
});

it('a list may be checked from an index on, with a bound from there', () => {
  const tail = endOfList(item, {
    max: 100,
    atOnce: 2,
    toStart: (items) => items.indexOf('good'),
  });
  expect(tail.parse(['bad', 'bad', 'bad', 'good', 'good'])).toEqual(['good', 'good']);
  expect(tail.safeParse(['bad', 'good', 'good', 'good']).success).toBe(false);
});

it('the description of a list includes its items', () => {
  const described = z.toJSONSchema(listOf(z.object({ a: z.string() }), 3), { io: 'input' });
  expect(described).toMatchObject({
    type: 'array',
    maxItems: 3,
    items: { type: 'object', properties: { a: { type: 'string' } } },
  });
});
