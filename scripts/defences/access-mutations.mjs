// Defences of the API: who is let in, and to which routes.
const ACCESS = 'test/api/access.test.ts';
const BODIES = 'test/api/bodies.test.ts';
const ORIGINS = 'test/api/cross-origin.test.ts';
const LIMITS = 'test/api/limits.test.ts';
const ROUTES = 'test/api/routes.test.ts';
const SETTINGS = 'test/config/env.test.ts';
const TOKENS = 'test/api/jwt-authenticator.test.ts';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

export const access = [
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
    test: 'parseEnv parseEnv refuses a blank JWT_SECRET, since without a key every caller gets access',
  },
  {
    defence: 'Edge: nor does a key under another name',
    file: 'config/env.ts',
    edits: [['if (!(name in EnvSchema.shape)) {', 'if (false) {']],
    suite: SETTINGS,
    test: 'parseEnv parseEnv reports the unknown variable JWT_SECRE',
  },
  {
    defence: 'Edge: replies carry security headers',
    file: 'api/create-api.ts',
    edits: [['app.use(createSecurityHeaders(), requireHost);', 'app.use(requireHost);']],
    suite: ORIGINS,
    test: 'security headers the reply of /api/config has the security headers',
  },
  {
    defence: 'Edge: who asks is known before a body is read',
    file: 'api/create-api.ts',
    edits: [['await readIdentity(request);\n    next();', 'next();']],
    suite: BODIES,
    test: 'a body that is too large the body of a stranger is not read',
  },
  {
    defence: 'Edge: each user has a limit of his own',
    file: 'api/identity.ts',
    edits: [['JSON.stringify([tenantId, userId])', 'JSON.stringify([tenantId])']],
    suite: LIMITS,
    test: 'requests that may change something the requests of a sender above the limit are refused, those of others are not',
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
  {
    defence: 'Routes: one that may reply with a stream takes a slot',
    file: 'api/create-api.ts',
    edits: [['mayStream(route) ? streams : undefined,', '']],
    suite: ROUTES,
    test: 'a declared route a declared route takes a slot of its sender if it may reply with a stream',
  },
  {
    defence: 'Routes: one that may change something counts as a request',
    file: 'api/create-api.ts',
    edits: [['isCounted(route) ? requests : undefined,', '']],
    suite: ROUTES,
    test: 'a declared route a declared route counts towards the requests of its sender if it may change something',
  },
  {
    defence: 'Routes: only those for everyone are served without a sign-in',
    file: 'api/create-api.ts',
    edits: [["if (route.access === 'everyone') mount(", 'mount(']],
    suite: ROUTES,
    test: 'a declared route a declared route is refused without a sign-in unless its access is everyone',
  },
  {
    defence: 'Routes: a refusal to load is not an empty snapshot',
    file: 'ai-sdk/client/load-snapshot.ts',
    edits: [[' || error.statusCode !== 404', '']],
    suite: 'test/api/snapshots.test.ts',
    test: 'loadSnapshot does not take a refusal for a new chat.',
  },
  {
    defence: 'Redis: the files of its address are those that TLS uses',
    file: 'stores/redis/clients.ts',
    edits: [['address.files && { tls: readTlsFiles(address.files) }', '{}']],
    suite: 'test/e2e/redis-tls.test.ts',
    test: 'a Redis with TLS and a user of its own, which demands certificates API and worker with one carry out a run, by the documented rights',
  },
  {
    defence: 'Start: a process says what to do about a Redis that it cannot use',
    file: 'stores/redis/explain-redis.ts',
    edits: [['return `${finding} ${fix}`;', 'return finding;']],
    suite: 'test/stores/redis/explain-redis.test.ts',
    test: 'what a process says of its Redis at the start the password is wrong: one sentence names the setting, and no secret',
  },
  {
    defence: 'An address that is printed has no password behind a question mark',
    file: 'config/startup.ts',
    edits: [["  shown.search = '';\n", '']],
    suite: 'test/config/startup.test.ts',
    test: 'an address that is shown a printed address has neither user nor password',
  },
  {
    defence: 'Start: a certificate that cannot be used is named',
    file: 'executor/inspect-temporal.ts',
    edits: [['message: toReason(error) } };', "message: 'unknown' } };"]],
    suite: 'test/executor/explain-temporal.test.ts',
    test: 'a process with an unreadable certificate says at its start what to do',
  },
  {
    defence: 'Start: a user of Redis without rights is named',
    file: 'stores/redis/explain-redis.ts',
    edits: [['refusal === undefined ? undefined :', 'true ? undefined :']],
    suite: 'test/stores/redis/explain-redis.test.ts',
    test: 'what a process says of its Redis at the start a user without rights is named, with what to do, though it can connect',
  },
];
