// Defences of the API: which tokens and keys count.
const KEY_SETS = 'test/api/key-set.test.ts';
const TOKENS = 'test/api/jwt-authenticator.test.ts';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

export const tokens = [
  {
    defence: 'Tokens: their issuer is checked',
    file: 'api/jwt-authenticator.ts',
    edits: without('issuer: issuer && toList(issuer),'),
    suite: TOKENS,
    test: 'tokens with a shared secret the authenticator refuses one of another issuer',
  },
  {
    defence: 'Tokens: so is whom they are for',
    file: 'api/jwt-authenticator.ts',
    edits: without('audience: audience && toList(audience),'),
    suite: TOKENS,
    test: 'tokens with a shared secret the authenticator refuses one for another audience',
  },
  {
    defence: 'Tokens: algorithms are those that were agreed on',
    file: 'api/jwt-authenticator.ts',
    edits: without('algorithms: readAlgorithms(options),'),
    suite: TOKENS,
    test: 'tokens with a shared secret the authenticator refuses a larger hash than was agreed on',
  },
  {
    defence: 'Tokens: they name a user',
    file: 'api/jwt-authenticator.ts',
    edits: [['if (!isName(userId) || (tenantId', 'if ((tenantId']],
    suite: TOKENS,
    test: 'tokens with a shared secret the authenticator refuses one with a number for a user',
  },
  {
    defence: 'Tokens: a bad header does not fall back to the cookie',
    file: 'api/jwt-authenticator.ts',
    edits: [
      [
        'if (header !== undefined) return BEARER.exec(header)?.[1];',
        "const token = BEARER.exec(header ?? '')?.[1];\n  if (token !== undefined) return token;",
      ],
    ],
    suite: TOKENS,
    test: 'tokens in a cookie a token in a cookie counts only without a header and for pages of this site',
  },
  {
    defence: 'Tokens: a failed download of the keys does not reject valid tokens',
    file: 'api/jwt-authenticator.ts',
    edits: without('.catch(refuseKey)'),
    suite: KEY_SETS,
    test: 'tokens of an issuer with a key set a token gets 503 while the key set cannot be fetched',
  },
  {
    defence: 'Tokens: a token without an expiry is refused',
    file: 'api/jwt-authenticator.ts',
    edits: without("requiredClaims: ['exp'],"),
    suite: TOKENS,
    test: 'unsafe keys a token without an expiry is refused',
  },
  {
    defence: 'Tokens: keys do not come over lines that others can write on',
    file: 'api/jwt-authenticator.ts',
    edits: [["if (url.protocol !== 'https:' && !isLoopback(url.hostname)) {", 'if (false) {']],
    suite: KEY_SETS,
    test: 'unsafe keys a key set is not fetched from http://id.test/keys',
  },
  {
    defence: 'Tokens: a private key is not taken for a public one',
    file: 'api/jwt-authenticator.ts',
    edits: [['if (/-----BEGIN [A-Z ]*PRIVATE KEY/.test(publicKey)) {', 'if (false) {']],
    suite: TOKENS,
    test: 'unsafe keys a private key is not accepted as publicKey',
  },
  {
    defence: 'Tokens: a key set has an end',
    file: 'api/jwt-authenticator.ts',
    edits: without("if (received > KEY_SET_BYTES) throw new Error('the key set is too large');"),
    suite: KEY_SETS,
    test: 'unsafe keys a key set above the size limit is not accepted',
  },
];
