import { createIdentityReader } from '../../api/identity.js';

it.each([
  ['userId', 42],
  ['tenantId', null],
  ['personId', 7],
  ['roles', 'operator'],
  ['tenants', 'acme-eu'],
  ['isEveryone', 'false'],
  ['revoked', true],
])(
  'an identity with the %s %j is a fault of the server, which its log names',
  async (name, value) => {
    const authenticate = () => ({ userId: 'ann', [name]: value });
    const read = createIdentityReader({ authenticate });
    await expect(read({} as never)).rejects.toMatchObject({
      code: 'internal_error',
      cause: {
        message: expect.stringMatching(new RegExp(`Invalid input.*${name}`, 's')),
      },
    });
  },
);

it('a request is authenticated once', async () => {
  const authenticate = jest.fn(() => ({ userId: 'ann' }));
  const read = createIdentityReader({ authenticate });
  const request = {} as never;
  expect(await read(request)).toBe(await read(request));
  expect(authenticate).toHaveBeenCalledTimes(1);
});

it.each(['userId', 'tenantId', 'personId'])(
  'a half character in the %s is refused',
  async (name) => {
    const authenticate = () => ({ userId: 'ann', [name]: 'a\ud800' });
    const read = createIdentityReader({ authenticate });
    await expect(read({} as never)).rejects.toMatchObject({ code: 'unauthorized' });
  },
);
