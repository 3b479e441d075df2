import { placeSearch, readAgent, readPlace } from '../../web/src/use-place.js';

describe('the address of a conversation', () => {
  it.each(['lab', undefined])(
    'the address of a conversation with the agent %s is read as it was written',
    (agent) => {
      const place = { sessionId: 'a-B_9', agent };
      expect(readPlace(placeSearch(place))).toEqual(place);
    },
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
