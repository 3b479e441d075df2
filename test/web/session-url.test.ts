import { describe, expect, it } from '@jest/globals';
import { placeOf, placeSearch, readAgent, readPlace } from '../../web/src/session-url.js';

describe('the address of a conversation', () => {
  it.each([placeOf('a-B_9', 'lab'), placeOf('a-B_9', undefined)])(
    'reads what it writes',
    (place) => {
      expect(readPlace(placeSearch(place))).toEqual(place);
    },
  );

  it.each(['', '?agent=lab', '?session=', '?session=a%2Fb', `?session=${'x'.repeat(129)}`])(
    'names no session in "%s"',
    (search) => {
      expect(readPlace(search)).toBeUndefined();
    },
  );

  it('may name an agent only', () => {
    expect(readAgent('?agent=lab')).toBe('lab');
    expect(readAgent('')).toBeUndefined();
  });
});
