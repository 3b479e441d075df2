// Defences of the API's edge: who is let in, how much, and whose sessions they see.

const ACCESS = 'test/api/access.test.ts';
const BODIES = 'test/api/bodies.test.ts';
const ORIGINS = 'test/api/cross-origin.test.ts';
const LIMITS = 'test/api/limits.test.ts';
const OWNERS = 'test/api/ownership.test.ts';
const TOKENS = 'test/api/jwt-authenticator.test.ts';
const PIPE = 'test/api/pipe-to-express.test.ts';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

const access = [
  {
    defence: 'Edge: an app is closed until it is said who may do what',
    file: 'api/identity.ts',
    edits: [['if (authenticate === undefined && !allowUnauthenticated) {', 'if (false) {']],
    suite: ACCESS,
    test: 'who may do what no app without an authenticator, unless said out loud',
  },
  {
    defence: 'Edge: other sites do not act through a browser',
    file: 'api/edge/other-sites.ts',
    edits: [['if (!isSafe && isOtherSite(request, allowed)) {', 'if (false) {']],
    suite: ACCESS,
    test: 'who may do what without accounts, other sites may not act through a browser',
  },
  {
    defence: 'Edge: nor with the cookies of a neighbouring site',
    file: 'api/edge/other-sites.ts',
    edits: [["return site !== 'same-origin' && site !== 'none';", "return site === 'cross-site';"]],
    suite: TOKENS,
    test: 'tokens in a cookie count when there is no header, and only for pages of this site',
  },
  {
    defence: 'Edge: only listed origins are let in',
    file: 'api/edge/cross-origin.ts',
    edits: [['origin: [...allowedOrigins],', 'origin: true,']],
    suite: ORIGINS,
    test: 'pages of other origins are let in by a list, with the headers that resuming needs',
  },
  {
    defence: 'Edge: a list of origins cannot match everything',
    file: 'api/edge/cross-origin.ts',
    edits: without(
      'if (!isOrigin(origin)) throw new Error(`allowedOrigins: ${origin} is no origin.`);',
    ),
    suite: ORIGINS,
    test: 'pages of other origins are not named by *',
  },
  {
    defence: 'Edge: browsers are told what not to do',
    file: 'api/create-api.ts',
    edits: [['app.use(createSecurityHeaders(), requireHost);', 'app.use(requireHost);']],
    suite: ORIGINS,
    test: 'every reply of /api/config tells browsers what not to do',
  },
];

const sizes = [
  {
    defence: 'Edge: a body that says that it is too large is not waited for',
    file: 'api/edge/json-body.ts',
    edits: without(
      "if (Number(request.headers['content-length'] ?? 0) > LIMITS.bodyBytes) throw tooLarge();",
    ),
    suite: BODIES,
    test: 'a body that is too large is refused by its length, before any of it has come',
  },
  {
    defence: 'Edge: nor is one that turns out to be, also when it is unpacked',
    file: 'api/edge/read-body.ts',
    edits: without('if (received > limit) throw tooLarge();'),
    suite: BODIES,
    test: 'a body that is too large is refused when it has no length and turns out to be',
  },
  {
    defence: 'Edge: who asks is known before a body is read',
    file: 'api/create-api.ts',
    edits: [['await readIdentity(request);\n    next();', 'next();']],
    suite: BODIES,
    test: 'a body that is too large of a stranger is not read either',
  },
  {
    defence: 'Edge: JSON is not deeper than recursion goes',
    file: 'api/edge/json-size.ts',
    edits: [['if (depth > bounds.depth) return', 'if (false) return']],
    suite: BODIES,
    test: 'JSON that is 10000 deep is refused',
  },
  {
    defence: 'Edge: JSON has no more values than are worked through in no time',
    file: 'api/edge/json-size.ts',
    edits: without("if (values > bounds.values) return 'values';"),
    suite: BODIES,
    test: 'JSON of more values than are taken is refused, long before its end',
  },
  {
    defence: 'Edge: what stands in a string is no value',
    file: 'api/edge/json-size.ts',
    edits: [['if (byte === BACKSLASH) at += 1;', '']],
    suite: BODIES,
    test: 'JSON is measured alike in pieces of 7 bytes',
  },
  {
    defence: 'Edge: another encoding does not hide how deep it is',
    file: 'api/edge/json-body.ts',
    edits: [["if (charset.toLowerCase() !== 'utf-8') {", 'if (false) {']],
    suite: BODIES,
    test: 'JSON of another encoding is refused, since it could hide how deep it is',
  },
  {
    defence: 'Edge: of a conversation that is posted whole only the end is looked at',
    file: 'protocol/posted-messages.ts',
    edits: [
      [
        'toStart: (messages) => Math.max(0, messages.findLastIndex(isNotUsers)),',
        'toStart: () => 0,',
      ],
    ],
    suite: 'test/api/bodies.test.ts',
    test: 'a body that is taken is looked at from its last reply on',
  },
  {
    defence: 'Edge: a list of faults is not collected to its end',
    file: 'protocol/list-of.ts',
    edits: without('if (context.issues.length >= FAULTS) break;'),
    suite: 'test/protocol/list-of.test.ts',
    test: 'a list is looked at until there are five faults',
  },
];

const limits = [
  {
    defence: 'Edge: requests that change something are limited',
    file: 'api/edge/limits.ts',
    edits: [['...(perMinute > 0 && {', '...(false && {']],
    suite: LIMITS,
    test: 'requests that change something are refused when one sender sends too many, and nobody else',
  },
  {
    defence: 'Edge: each user has a limit of his own',
    file: 'api/identity.ts',
    edits: [['JSON.stringify([tenantId, userId])', 'JSON.stringify([tenantId])']],
    suite: LIMITS,
    test: 'requests that change something are refused when one sender sends too many, and nobody else',
  },
  {
    defence: 'Edge: a count that cannot be kept takes nothing down',
    file: 'api/edge/request-rate.ts',
    edits: [['passOnStoreError: true,', 'passOnStoreError: false,']],
    suite: LIMITS,
    test: 'requests that change something pass when they cannot be counted, and the log says so',
  },
  {
    defence: 'Edge: open streams are limited',
    file: 'api/edge/stream-slots.ts',
    edits: [['if (count >= limit) {', 'if (false) {']],
    suite: LIMITS,
    test: 'open streams are refused beyond a number, before anything is begun; and given back when readers leave',
  },
  {
    defence: 'Edge: a stream gives its place back',
    file: 'api/edge/stream-slots.ts',
    edits: without('if (left === 0) open.delete(key);\n      else open.set(key, left);'),
    suite: LIMITS,
    test: 'open streams give their slot back however they end',
  },
  {
    defence: 'Edge: half a reply does not look whole',
    file: 'api/pipe-to-express.ts',
    edits: [['if (!response.writableEnded) response.destroy();', 'response.end();']],
    suite: PIPE,
    test: 'pipeToExpress cuts the socket when the frames break off: nobody takes half for whole',
  },
  {
    defence: 'Edge: nothing is followed for who has left',
    file: 'api/pipe-to-express.ts',
    edits: without("response.once('close', leave);"),
    suite: PIPE,
    test: 'pipeToExpress stops following as soon as the reader leaves',
  },
];

const tokens = [
  {
    defence: 'Tokens: their issuer is checked',
    file: 'api/jwt-authenticator.ts',
    edits: without('...(issuer !== undefined && { issuer: toList(issuer) }),'),
    suite: TOKENS,
    test: 'tokens with a shared secret refuse one of another issuer',
  },
  {
    defence: 'Tokens: so is whom they are for',
    file: 'api/jwt-authenticator.ts',
    edits: without('...(audience !== undefined && { audience: toList(audience) }),'),
    suite: TOKENS,
    test: 'tokens with a shared secret refuse one for somebody else',
  },
  {
    defence: 'Tokens: algorithms are those that were agreed on',
    file: 'api/jwt-authenticator.ts',
    edits: without('algorithms: readAlgorithms(options),'),
    suite: TOKENS,
    test: 'tokens with a shared secret refuse a larger hash than was agreed on',
  },
  {
    defence: 'Tokens: they name a user',
    file: 'api/jwt-authenticator.ts',
    edits: [['if (!isName(userId) || (tenantId', 'if ((tenantId']],
    suite: TOKENS,
    test: 'tokens with a shared secret refuse one with a number for a user',
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
    test: 'tokens in a cookie count when there is no header, and only for pages of this site',
  },
  {
    defence: 'Tokens: keys that cannot be had make nobody sign out',
    file: 'api/jwt-authenticator.ts',
    edits: without('.catch(refuseKey)'),
    suite: TOKENS,
    test: 'tokens of an issuer who publishes keys may be good when the keys cannot be fetched: try again',
  },
];

const STRANGER = 'tells a stranger nothing, and does nothing for them';
const NAMESAKE = 'tells the same name in another tenant nothing, and does nothing for them';

const owners = [
  {
    defence: 'Owners: a name counts within its tenant',
    file: 'ai-sdk/ownership.ts',
    edits: without(" && (session.tenant ?? '') === (caller.tenantId ?? '')"),
    suite: OWNERS,
    test: `stopChat ${NAMESAKE}`,
  },
  {
    defence: 'Owners: nobody acts on another person’s session',
    file: 'ai-sdk/ownership.ts',
    edits: without(' || !isOwner(record, caller)'),
    suite: OWNERS,
    test: `deleteChat ${STRANGER}`,
  },
  {
    defence: 'Owners: nobody follows it',
    file: 'ai-sdk/decide-reply.ts',
    edits: [['if (isReading && (found === undefined || isForeign))', 'if (isReading && !found)']],
    suite: OWNERS,
    test: `followChat ${STRANGER}`,
  },
  {
    defence: 'Owners: nobody loads it',
    file: 'ai-sdk/build-snapshot.ts',
    edits: without('if (caller !== undefined && !isOwner(view.record, caller)) return undefined;'),
    suite: OWNERS,
    test: `getSnapshot ${STRANGER}`,
  },
  {
    defence: 'Owners: nobody learns what it waits for',
    file: 'api/routes/sessions.ts',
    edits: without(' || !isOwner(found.record, caller)'),
    suite: OWNERS,
    test: `getPending ${STRANGER}`,
  },
];

export const edge = [...access, ...sizes, ...limits, ...tokens, ...owners];
