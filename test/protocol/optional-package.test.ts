import { MissingPackageError, orMissing } from '../../protocol/errors.js';

const notFound = (name: string): Error =>
  Object.assign(
    new Error(`Cannot find package '${name}' imported from /app/node_modules/jose/a.js`),
    {
      code: 'ERR_MODULE_NOT_FOUND',
    },
  );

it.each(['jose', '@scope/name', '@scope/name/client.js'])(
  'a missing %s is refused with the command that installs it',
  (name) => {
    const fail = (): never => orMissing('Sign-in', 'jose@6 @scope/name@1')(notFound(name));
    expect(fail).toThrow(MissingPackageError);
    expect(fail).toThrow(/^Sign-in .*: npm install jose@6 @scope\/name@1$/);
  },
);

it.each([notFound('its-own-dependency'), notFound('jose-more'), new Error("no 'jose'")])(
  'another failure of an import stays as it is: %s',
  (failure) => {
    expect(() => orMissing('Sign-in', 'jose@6')(failure)).toThrow(failure);
  },
);
