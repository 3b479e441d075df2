import { placeOf, placeSearch, readAgent, readPlace } from '../../web/src/use-place.js';

describe('the address of a conversation', () => {
  it.each([placeOf('a-B_9', 'lab'), placeOf('a-B_9', undefined)])(
    'the address of a conversation is read as it was written',
    (place) => expect(readPlace(placeSearch(place))).toEqual(place),
  );

  it.each(['', '?agent=lab', '?session=', '?session=a%2Fb', `?session=${'x'.repeat(129)}`])(
    'the address "%s" names no session',
    (search) => expect(readPlace(search)).toBeUndefined(),
  );

  it('an address may name only an agent', () => {
    expect(readAgent('?agent=lab')).toBe('lab');
    expect(readAgent('')).toBeUndefined();
  });
});
