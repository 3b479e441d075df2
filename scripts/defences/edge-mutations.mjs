// Defences of the API's edge: who is let in, how much, and whose sessions they see.

const ACCESS = 'test/api/access.test.ts';
const BODIES = 'test/api/bodies.test.ts';
const ORIGINS = 'test/api/cross-origin.test.ts';
const LIMITS = 'test/api/limits.test.ts';
const OWNERS = 'test/api/ownership.test.ts';
const ROUTES = 'test/api/routes.test.ts';
const SNAPSHOTS = 'test/ai-sdk/reply/build-snapshot.test.ts';
const SETTINGS = 'test/config/env.test.ts';
const TOKENS = 'test/api/jwt-authenticator.test.ts';
const PIPE = 'test/api/pipe-to-express.test.ts';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

const access = [
  {
    defence: 'Edge: an app refuses all requests until access is configured',
    file: 'api/identity.ts',
    edits: [['if (authenticate === undefined && !allowUnauthenticated) {', 'if (false) {']],
    suite: ACCESS,
    test: 'access createApi throws without an authenticator, unless allowUnauthenticated is set',
  },
  {
    defence: 'Edge: other sites do not act through a browser',
    file: 'api/middleware/csrf-guard.ts',
    edits: [['if (!isSafe && isCrossSite(request, allowed)) {', 'if (false) {']],
    suite: ACCESS,
    test: 'access a server without accounts refuses requests that other sites make through a browser',
  },
  {
    defence: 'Edge: nor with the cookies of a neighbouring site',
    file: 'api/middleware/csrf-guard.ts',
    edits: [["return site !== 'same-origin' && site !== 'none';", "return site === 'cross-site';"]],
    suite: TOKENS,
    test: 'tokens in a cookie a token in a cookie counts only without a header and for pages of this site',
  },
  {
    defence: 'Edge: only listed origins are let in',
    file: 'api/middleware/cross-origin.ts',
    edits: [['origin: [...allowedOrigins],', 'origin: true,']],
    suite: ORIGINS,
    test: 'pages of other origins pages of listed origins are allowed, with the headers that resuming needs',
  },
  {
    defence: 'Edge: a list of origins cannot match everything',
    file: 'api/middleware/cross-origin.ts',
    edits: without(
      'if (!isOrigin(origin)) throw new Error(`allowedOrigins: ${origin} is not an origin.`);',
    ),
    suite: ORIGINS,
    test: 'pages of other origins * is not accepted as an origin',
  },
  {
    defence: 'Edge: without accounts, names that others made to lead here are not served',
    file: 'api/access-from-config.ts',
    edits: [
      [
        'authenticate === undefined ? toHostNames',
        "authenticate === undefined && config.HOST !== '0.0.0.0' ? toHostNames",
      ],
    ],
    suite: ACCESS,
    test: 'a server without accounts the settings allow only the host of PUBLIC_URL on any address, unless there are accounts',
  },
  {
    defence: 'Edge: nor by a host that forgets to say so',
    file: 'api/create-api.ts',
    edits: [['deps.authenticate === undefined ? [] : undefined', 'undefined']],
    suite: ACCESS,
    test: 'a server without accounts createApi without accounts refuses foreign host names',
  },
  {
    defence: 'Edge: an agent that is only a sub-agent is not talked to',
    file: 'ai-sdk/reply/access.ts',
    edits: without(' && (agents.isPublic?.(name) ?? true)'),
    suite: ACCESS,
    test: 'agents that are only sub-agents a sub-agent is neither listed nor addressable unless it is public',
  },
  {
    defence: 'Edge: a blank key grants no access',
    file: 'config/env.ts',
    edits: without("if (value.trim() === '') return `${name} is blank; set it, or leave it out`;"),
    suite: SETTINGS,
    test: 'parseEnv takes a blank JWT_SECRET for a mistake, since without a key everybody is let in',
  },
  {
    defence: 'Edge: nor does a key under another name',
    file: 'config/env.ts',
    edits: [['if (!(name in EnvSchema.shape)) {', 'if (false) {']],
    suite: SETTINGS,
    test: 'parseEnv does not know JWT_SECRE, and says so',
  },
  {
    defence: 'Edge: replies carry security headers',
    file: 'api/create-api.ts',
    edits: [['app.use(createSecurityHeaders(), requireHost);', 'app.use(requireHost);']],
    suite: ORIGINS,
    test: 'security headers the reply of /api/config has the security headers',
  },
];

const sizes = [
  {
    defence: 'Edge: a body that says that it is too large is not waited for',
    file: 'api/middleware/json-body.ts',
    edits: without(
      "if (Number(request.headers['content-length'] ?? 0) > LIMITS.bodyBytes) throw tooLarge();",
    ),
    suite: BODIES,
    test: 'a body that is too large a body is refused by its declared length before any of it arrives',
  },
  {
    defence: 'Edge: nor is one that turns out to be, also when it is unpacked',
    file: 'api/middleware/json-body.ts',
    edits: without('if (received > limit) throw tooLarge();'),
    suite: BODIES,
    test: 'a body that is too large a body without a declared length is refused as soon as it is too large',
  },
  {
    defence: 'Edge: who asks is known before a body is read',
    file: 'api/create-api.ts',
    edits: [['await readIdentity(request);\n    next();', 'next();']],
    suite: BODIES,
    test: 'a body that is too large the body of a stranger is not read',
  },
  {
    defence: 'Edge: JSON is not deeper than recursion goes',
    file: 'api/middleware/json-size.ts',
    edits: [['if (depth > bounds.depth) return', 'if (false) return']],
    suite: BODIES,
    test: 'JSON JSON that is nested 10000 deep is refused',
  },
  {
    defence: 'Edge: JSON has no more values than are worked through in no time',
    file: 'api/middleware/json-size.ts',
    edits: without("if (values > bounds.values) return 'values';"),
    suite: BODIES,
    test: 'JSON JSON with too many values is refused long before its end',
  },
  {
    defence: 'Edge: what stands in a string is no value',
    file: 'api/middleware/json-size.ts',
    edits: [['if (byte === BACKSLASH) at += 1;', '']],
    suite: BODIES,
    test: 'JSON JSON in pieces of 7 bytes has the depth and values of the whole',
  },
  {
    defence: 'Edge: another encoding does not hide how deep it is',
    file: 'api/middleware/json-body.ts',
    edits: [["if (charset.toLowerCase() !== 'utf-8') {", 'if (false) {']],
    suite: BODIES,
    test: 'JSON JSON of another encoding is refused, since the depth check would not see its brackets',
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
    test: 'a body that is accepted a conversation is checked from its last reply on',
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
    file: 'api/middleware/limits.ts',
    edits: [['perMinute > 0', 'false']],
    suite: LIMITS,
    test: 'requests that may change something the requests of a sender above the limit are refused, those of others are not',
  },
  {
    defence: 'Edge: each user has a limit of his own',
    file: 'api/identity.ts',
    edits: [['JSON.stringify([tenantId, userId])', 'JSON.stringify([tenantId])']],
    suite: LIMITS,
    test: 'requests that may change something the requests of a sender above the limit are refused, those of others are not',
  },
  {
    defence: 'Edge: a count that cannot be kept takes nothing down',
    file: 'api/middleware/limits.ts',
    edits: [['passOnStoreError: true,', 'passOnStoreError: false,']],
    suite: LIMITS,
    test: 'requests that may change something requests pass while they cannot be counted, and the log says so',
  },
  {
    defence: 'Edge: open streams are limited',
    file: 'api/middleware/limits.ts',
    edits: [['if (count >= limit) {', 'if (false) {']],
    suite: LIMITS,
    test: 'open streams a stream above the limit is refused before a run begins, and a reader that leaves frees its slot',
  },
  {
    defence: 'Edge: a stream gives its place back',
    file: 'api/middleware/limits.ts',
    edits: without('if (left === 0) open.delete(key);\n      else open.set(key, left);'),
    suite: LIMITS,
    test: 'open streams a stream frees its slot however it ends',
  },
  {
    defence: 'Edge: half a reply does not look whole',
    file: 'api/pipe-to-express.ts',
    edits: [['if (!response.writableEnded) response.destroy();', 'response.end();']],
    suite: PIPE,
    test: 'pipeToExpress the socket is cut when the frames break off, so half a reply does not look complete',
  },
  {
    defence: 'Edge: nothing is followed for who has left',
    file: 'api/pipe-to-express.ts',
    edits: without("response.once('close', leave);"),
    suite: PIPE,
    test: 'pipeToExpress following stops as soon as the reader disconnects',
  },
];

const tokens = [
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
    suite: TOKENS,
    test: 'tokens of an issuer with a key set a token gets 503 while the key set cannot be fetched',
  },
];

const STRANGER = 'a stranger learns nothing and changes nothing';
const NAMESAKE = 'the same name in another tenant learns nothing and changes nothing';

const lows = [
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
    suite: TOKENS,
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
    suite: TOKENS,
    test: 'unsafe keys a key set above the size limit is not accepted',
  },
  {
    defence: 'Edge: a request has one host',
    file: 'api/middleware/dns-rebinding-guard.ts',
    edits: [['if ((request.headersDistinct.host?.length ?? 0) > 1) {', 'if (false) {']],
    suite: BODIES,
    test: 'malformed requests two hosts gets a typed refusal',
  },
  {
    defence: 'Edge: readiness checks are cached',
    file: 'api/readiness.ts',
    edits: [['looking ??= runChecks(checks)', 'looking = runChecks(checks)']],
    suite: ACCESS,
    test: 'failures and readiness requests for readiness at the same time share one check',
  },
];

const revocation = [
  {
    defence: 'Revocation: the reader of an open stream is cut',
    file: 'api/pipe-to-express.ts',
    edits: without("revoked?.addEventListener('abort', cut);"),
    suite: 'test/api/revocation.test.ts',
    test: 'a revoked identity the reply to a message is cut when its reader is revoked, and its run continues',
  },
  {
    defence: 'Limits: one sender does not fill the memory with bodies',
    file: 'api/middleware/limits.ts',
    edits: [['(taken.get(key) ?? 0) + bytes > limit', 'false']],
    suite: LIMITS,
    test: 'bodies in flight the bytes in flight of one sender are bounded until they are read, those of others are not',
  },
  {
    defence: 'Limits: what was read, or given up, counts no more',
    file: 'api/middleware/json-body.ts',
    edits: without('share.release();'),
    suite: LIMITS,
    test: 'bodies in flight a sender that disconnects frees its bytes in flight',
  },
  {
    defence: 'Edge: a person who decides sees what the model saw',
    file: 'api/routes/sessions.ts',
    edits: without(', ...(await readHidden(deps, current))'),
    suite: 'test/api/waiting.test.ts',
    test: 'a person who decides the pending questions come with the hidden messages that the model got',
  },
  {
    defence: 'Edge: metrics on a port of their own are not on the public one',
    file: 'api/routes/index.ts',
    edits: [['publicMetrics ? ROUTES', 'publicMetrics !== undefined ? ROUTES']],
    suite: 'test/api/metrics.test.ts',
    test: '/metrics /metrics is not served on the public port if it has a port of its own',
  },
];

const owners = [
  {
    defence: 'Owners: a name counts within its tenant',
    file: 'ai-sdk/reply/access.ts',
    edits: without(" && (session.tenant ?? '') === (caller.tenantId ?? '')"),
    suite: OWNERS,
    test: 'a session of before: stopChat the same name in none learns nothing and changes nothing',
  },
  {
    defence: 'Owners: tenants do not share the ids of their sessions',
    file: 'ai-sdk/reply/access.ts',
    edits: [
      [
        "if (tenantId === undefined || tenantId === '') return sessionId;",
        'if (tenantId !== null) return sessionId;',
      ],
    ],
    suite: OWNERS,
    test: 'sessions of tenants tenants do not share session ids, and replies show the ids that clients chose',
  },
  {
    defence: 'Owners: a session of before is no other tenant’s',
    file: 'ai-sdk/reply/access.ts',
    edits: [
      [
        'if (bare.found?.record.tenant === caller.tenantId) return bare;',
        'if (bare.found) return bare;',
      ],
    ],
    suite: OWNERS,
    test: `a session of before: startAgent ${NAMESAKE}`,
  },
  {
    defence: 'Owners: tenants begin no session that an active release 0.2.0 would not find',
    file: 'stores/redis/session-store.ts',
    edits: [['(await context.layout()) >= TENANTS_APART', 'true']],
    suite: 'test/stores/redis/processes.test.ts',
    test: 'while a process of layout 1 lives tenants do not begin sessions under ids that it would not find',
  },
  {
    defence: 'Owners: nor does the edge',
    file: 'ai-sdk/reply/access.ts',
    edits: [['(await sessions.tenantsApart()) ? { storedId } : bare', '{ storedId }']],
    suite: OWNERS,
    test: 'sessions of tenants sessions are stored as release 0.2.0 finds them while its processes may run',
  },
  {
    defence: 'Owners: actions on another person’s session are refused',
    file: 'ai-sdk/reply/access.ts',
    edits: [['return isOwner(record, caller) ? record : undefined;', 'return record;']],
    suite: OWNERS,
    test: `a session of today: deleteChat ${STRANGER}`,
  },
  {
    defence: 'Owners: another person’s session cannot be followed',
    file: 'ai-sdk/reply/classify.ts',
    edits: [
      [
        "return session?.isOwn === true\n      ? { kind: 'attach'",
        "return session !== undefined ? { kind: 'attach'",
      ],
    ],
    suite: OWNERS,
    test: `a session of today: followChat ${STRANGER}`,
  },
  {
    defence: 'Owners: another person’s session cannot be loaded',
    file: 'ai-sdk/reply/build-snapshot.ts',
    edits: [
      [
        'there are.\n  const record = await findOwnSession(stateStore, sessionId, caller);',
        '\n  const { record } = await findSession(stateStore, sessionId, caller);',
      ],
      ['import { findOwnSession, isOwner', 'import { findSession, isOwner'],
      [
        'if (view === undefined || !isOwner(view.record, caller)) return undefined;',
        'if (!view) return;',
      ],
    ],
    suite: OWNERS,
    test: `a session of today: getSnapshot ${STRANGER}`,
  },
  {
    defence: 'Owners: nor does anybody learn from how long it takes how much there is',
    file: 'ai-sdk/reply/build-snapshot.ts',
    edits: [
      [
        'there are.\n  const record = await findOwnSession(stateStore, sessionId, caller);',
        '\n  const { record } = await findSession(stateStore, sessionId, caller);',
      ],
      ['import { findOwnSession, isOwner', 'import { findSession, isOwner'],
    ],
    suite: SNAPSHOTS,
    test: 'buildSnapshot reads nothing of what belongs to others',
  },
  {
    defence: 'Owners: a missing caller owns nothing',
    file: 'ai-sdk/reply/access.ts',
    edits: [
      [
        'if (session === undefined || !caller?.userId) return false;',
        'if (session === undefined) return false; if (!caller?.userId) return true;',
      ],
    ],
    suite: SNAPSHOTS,
    test: 'buildSnapshot is null without a caller, whom JavaScript hosts may omit',
  },
  {
    defence: 'Owners: a route of owners loads the session of its caller only',
    file: 'api/session-access.ts',
    edits: [
      [
        'const record = await readOwned(store, sessionId, caller);',
        'const record = (await findSession(store, sessionId, caller)).record as SessionRecord;',
      ],
      ['import { readOwned,', 'import { findSession,'],
    ],
    suite: OWNERS,
    test: `a session of today: getQueue ${STRANGER}`,
  },
  {
    defence: 'Routes: one that may reply with a stream takes a slot',
    file: 'api/create-api.ts',
    edits: [['mayStream(route) ? streams : undefined,', '']],
    suite: ROUTES,
    test: 'a declared route takes a slot of its sender if it may reply with a stream',
  },
  {
    defence: 'Routes: one that may change something counts as a request',
    file: 'api/create-api.ts',
    edits: [['isWrite(route) ? requests : undefined,', '']],
    suite: ROUTES,
    test: 'a declared route counts towards the requests of its sender if it may change something',
  },
  {
    defence: 'Routes: only those for everyone are served without a sign-in',
    file: 'api/create-api.ts',
    edits: [["if (route.access === 'everyone') mount(route);", 'mount(route);']],
    suite: ROUTES,
    test: 'a declared route is refused without a sign-in unless its access is everyone',
  },
  {
    defence: 'Routes: a refusal to load is not an empty snapshot',
    file: 'ai-sdk/client/load-snapshot.ts',
    edits: [[' || error.statusCode !== 404', '']],
    suite: 'test/api/snapshots.test.ts',
    test: 'loadSnapshot does not take a refusal for a new chat.',
  },
];

export const edge = [...access, ...sizes, ...limits, ...tokens, ...lows, ...revocation, ...owners];
