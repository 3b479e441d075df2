import { consoleUrlOf, readAuditTtl, ConfigError, parseEnv } from '../../config/env.js';
import { TIMES } from '../../protocol/limits.js';

describe('parseEnv', () => {
  it('parseEnv has a default for everything that may be left out', () => {
    expect(parseEnv({})).toEqual({
      PORT: 3000,
      HOST: '127.0.0.1',
      LISTEN_WITHIN: 0,
      METRICS_TENANTS: false,
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_METRIC_EXPORT_INTERVAL: 10_000,
      REDIS_URL: 'redis://127.0.0.1:6379',
      START_WITHIN: 900,
      STREAM_TTL: 86_400,
      SESSION_TTL: 0,
      AUDIT_TTL: 0,
      BUDGET_ACTION: 'refuse',
      TASK_QUEUE: 'agent-runs',
      MODEL_SLOTS: 300,
      TOOL_SLOTS: 200,
      TOOLS_PER_USER: 50,
      DATA_DIR: '.data',
      HELIX_TIMES: TIMES,
      HELIX_ALLOW_UNAUTHENTICATED: false,
      REPLIES_OUTLIVE_TOKENS: false,
      CORS_CREDENTIALS: false,
      LOG_LEVEL: 'info',
      NOTIFY_INCLUDE_INPUT: false,
      OTEL_SDK_DISABLED: false,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: false,
    });
  });

  it('parseEnv treats an empty variable as unset, and ignores unknown variables', () => {
    expect(parseEnv({ MODEL: '', PORT: ' ', PATH: '/bin' })).toEqual(parseEnv({}));
  });

  it.each(['JWT_SECRET', 'JWT_PUBLIC_KEY', 'JWT_JWKS_URL', 'JWT_AUDIENCE'])(
    'parseEnv refuses a blank %s, since without a key every caller gets access',
    (name) => {
      for (const blank of ['', ' ', '\t\n']) {
        expect(() => parseEnv({ [name]: blank })).toThrow(`${name} is blank`);
      }
    },
  );

  it.each(['JWT_SECRETS', 'JWT_SECRE', 'JWTSECRET', 'jwt_secret', 'JWKS_URL', 'JWT_KEY'])(
    'parseEnv reports the unknown variable %s',
    (name) => {
      const parse = (): unknown => parseEnv({ [name]: 'x'.repeat(40) });
      expect(parse).toThrow(`${name} is no setting; there are JWT_SECRET, `);
    },
  );

  it.each([
    ['1', true],
    ['true', true],
    ['on', true],
    ['0', false],
    ['no', false],
  ])('HELIX_ALLOW_UNAUTHENTICATED=%s is %s', (text, value) => {
    const config = parseEnv({ HELIX_ALLOW_UNAUTHENTICATED: text });
    expect(config.HELIX_ALLOW_UNAUTHENTICATED).toBe(value);
  });

  it.each(['localhost:4318', 'no address'])('parseEnv refuses a collector at %s', (address) => {
    expect(() => parseEnv({ OTEL_EXPORTER_OTLP_ENDPOINT: address })).toThrow(
      'OTEL_EXPORTER_OTLP_ENDPOINT must be an address that begins with http',
    );
  });

  it('parseEnv distinguishes an unset LAB from LAB=0 and LAB=1', () => {
    expect(parseEnv({}).LAB).toBeUndefined();
    expect(parseEnv({ LAB: '1' }).LAB).toBe(true);
    expect(parseEnv({ LAB: '0' }).LAB).toBe(false);
  });

  it('a port for operators is one of this machine alone, unless it names an address', () => {
    const of = (METRICS_PORT: string): unknown => parseEnv({ METRICS_PORT }).METRICS_PORT;
    expect(of('9464')).toEqual({ host: '127.0.0.1', port: 9464 });
    expect(of('0.0.0.0:9464')).toEqual({ host: '0.0.0.0', port: 9464 });
    expect(of('[::]:9464')).toEqual({ host: '::', port: 9464 });
    expect(parseEnv({}).WORKER_METRICS_PORT).toBeUndefined();
  });

  it.each([
    ['PORT', 'abc'],
    ['PORT', '70000'],
    ['PORT', '1.5'],
    ['METRICS_PORT', '70000'],
    ['METRICS_PORT', 'localhost'],
    ['WORKER_METRICS_PORT', ':9465'],
    ['SESSION_TTL', '-1'],
    ['SESSION_TTL', '1h'],
    ['STREAM_TTL', '1.5'],
    ['REDIS_URL', 'localhost:6379'],
    ['REDIS_URL', 'http://localhost'],
    ['REDIS_URL', 'redis://[a'],
    ['REDIS_URL', 'redis-cluster://a:x'],
    ['REDIS_URL', 'redis-sentinel://a:26379'],
    ['TEMPORAL_ADDRESS', 'localhost'],
    ['MODEL', 'open ai'],
    ['TEMPORAL_UI_URL', 'nowhere'],
    ['HELIX_ALLOW_UNAUTHENTICATED', 'maybe'],
    ['LOG_LEVEL', 'loud'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'nowhere'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['TRACE_URL_TEMPLATE', 'https://traces.test/'],
    ['JWT_JWKS_URL', 'keys'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'https://a.test,https://b.test/app'],
    ['MAX_REQUESTS_PER_MINUTE', '-1'],
    ['MAX_OPEN_STREAMS', 'many'],
    ['MODEL_SLOTS', '0'],
    ['AUDIT_KEY', 'k'.repeat(31)],
    ['AUDIT_KEY', `${'k'.repeat(32)},short`],
    ['NOTIFY_RETRY_FOR', '15'],
    ['QUOTA_RUNS', '0'],
    ['QUOTA_MB', '1.5'],
    ['BUDGET_USER_DAY_USD', '0'],
    ['BUDGET_TENANT_MONTH_USD', 'ten'],
    ['BUDGET_ACTION', 'stop'],
    ['AUDIT_TTL_TENANTS', 'acme'],
    ['HELIX_TIMES', 'fast'],
    ['CACHED_RUNS', '1000001'],
    ['OTEL_BSP_SCHEDULE_DELAY', '2147483648'],
    ['BUDGET_USER_MONTH_USD', '1e400'],
    ['PUBLIC_URL', 'localhost:3000'],
    ['TEMPORAL_UI_URL', 'javascript:alert(1)'],
    ['OPENAI_BASE_URL', 'localhost:11434/v1'],
    ['TEMPORAL_DEPLOYMENT_NAME', 'agents.eu'],
    ['TEMPORAL_DEPLOYMENT_NAME', 'agents:eu'],
    ['TEMPORAL_DEPLOYMENT_NAME', '__agents'],
    ['FILE_HOSTS', 'https://files.test'],
    ['FILE_HOSTS', 'a.test,files.test/images'],
    ['TRUSTED_PROXIES', 'proxy'],
    ['TRUSTED_PROXIES', '-1'],
    ['TRUSTED_PROXIES', '10.0.0.1,10.0.0.0/33'],
    ['TRUSTED_PROXIES', '::1/129'],
    ['TRUSTED_PROXIES', '10.0.0.0/8/8'],
    ['HELIX_TIMES', '{"patience":500}'],
    ['AUDIT_TTL_TENANTS', 'acme=1,rival=-1'],
  ])('parseEnv names %s when it is "%s", in one line', (name, value) => {
    const parse = (): unknown => parseEnv({ [name]: value });
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(new RegExp(`^Bad configuration: ${name} [^\\n]+$`));
  });

  it('parseEnv accepts several hosts for Redis, and never shows a password', () => {
    const REDIS_URL = 'redis-sentinel://me:secret@a:26379,b:26379/main';
    expect(parseEnv({ REDIS_URL }).REDIS_URL).toBe(REDIS_URL);
    expect(() => parseEnv({ REDIS_URL: 'redis-cluster://me:secret@' })).toThrow(
      /^(?!.*secret).*REDIS_URL must be/,
    );
  });

  it("parseEnv accepts a page's address with or without a slash at its end", () => {
    expect(parseEnv({ PUBLIC_URL: 'https://chat.test/' }).PUBLIC_URL).toBe('https://chat.test');
  });

  it('parseEnv accepts lists with commas, and proxies by number or address', () => {
    const config = parseEnv({
      CORS_ORIGINS: 'https://a.test, https://b.test,',
      TRUSTED_PROXIES: '2',
    });
    expect(config.CORS_ORIGINS).toEqual(['https://a.test', 'https://b.test']);
    expect(config.TRUSTED_PROXIES).toBe(2);
    for (const proxies of [['10.0.0.1'], ['::1', '10.0.0.0/32', 'fd00::/128', 'loopback']]) {
      expect(parseEnv({ TRUSTED_PROXIES: proxies.join() }).TRUSTED_PROXIES).toEqual(proxies);
    }
    expect(parseEnv({ FILE_HOSTS: 'Files.test, b.test:8443' }).FILE_HOSTS).toEqual([
      'files.test',
      'b.test:8443',
    ]);
  });

  it.each([
    ['90s', 90_000],
    ['15m', 900_000],
    ['4h', 14_400_000],
    ['3d', 259_200_000],
  ])('the time %s is %d ms', (NOTIFY_RETRY_FOR, ms) => {
    expect(parseEnv({ NOTIFY_RETRY_FOR }).NOTIFY_RETRY_FOR).toBe(ms);
  });

  it('parseEnv replaces single times', () => {
    const { HELIX_TIMES } = parseEnv({ HELIX_TIMES: '{"patientMs":500}' });
    expect(HELIX_TIMES).toEqual({ ...TIMES, patientMs: 500 });
  });

  it.each([{ TEMPORAL_DEPLOYMENT_NAME: 'agents' }, { TEMPORAL_WORKER_BUILD_ID: 'v1' }])(
    'parseEnv refuses half a worker version: %j',
    (half) => {
      expect(() => parseEnv(half)).toThrow(/^Bad configuration: .*need each other$/);
    },
  );

  it('the audit trail of a tenant is kept as long as its setting says, others as all', () => {
    const ttlOf = readAuditTtl(parseEnv({ AUDIT_TTL: '60', AUDIT_TTL_TENANTS: 'acme=0, a=b=5' }));
    expect(['acme', 'a=b', 'rival', 'constructor', undefined].map(ttlOf)).toEqual([
      0, 5, 60, 60, 60,
    ]);
  });

  it("a run's address of operators is below the public one", () => {
    expect(consoleUrlOf('https://a.test')?.('s', 's:1/a')).toBe(
      'https://a.test/console/runs/s%3A1%2Fa',
    );
    expect(consoleUrlOf(undefined)).toBeUndefined();
  });

  it('parseEnv names every wrong variable', () => {
    expect(() => parseEnv({ PORT: 'x', LOG_LEVEL: 'loud' })).toThrow(/PORT .*; LOG_LEVEL /);
  });
});
