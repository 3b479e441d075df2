import { isIP } from 'node:net';
import { z } from 'zod';
import { BusyPolicy } from '../protocol/replies.js';
import { LIMITS, TIMES, type Times } from '../protocol/limits.js';
import { DEFAULT_TASK_QUEUE } from '../protocol/temporal.js';
import { isOrigin } from '../protocol/http.js';

const HOST = String.raw`(?:\[[0-9a-f:.]+\]|[^\s:@,/?#[\]]+)(?::\d{1,5})?`;

/** Parameters of an address, see store/redis/addresses.ts. */
const parameters = (one: string): string => String.raw`(?:\?${one}(?:&${one})*)?`;
const FILE = String.raw`(?:ca|cert|key)=[^&\s]+`;
const FILES = parameters(FILE);
const FILES_AND_ACCESS = parameters(String.raw`(?:${FILE}|sentinel(?:Username|Password)=[^&\s@]+)`);

const USER = String.raw`(?:[^\s@/]*@)?`;

/** Several hosts: nodes of a cluster, or Sentinels and the name of the master that they watch. */
const MANY_HOSTS = new RegExp(
  `^rediss?-(?:cluster://${USER}${HOST}(?:,${HOST})*/?${FILES}|` +
    String.raw`sentinel://${USER}${HOST}(?:,${HOST})*/[\w.-]+(?:/\d{1,4})?${FILES_AND_ACCESS})$`,
  'i',
);

/** The error does not repeat a malformed address, which may contain a password. */
const REDIS_URL_FORMS =
  'must be redis://host:port, redis-cluster://host:port,… or ' +
  'redis-sentinel://host:port,…/<master> (rediss… for TLS, with ?ca=…&cert=…&key=… for files)';

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `15m`, `4h` or `3d`, as ms. */
const duration = z
  .string()
  .regex(/^\d{1,6}[smhd]$/, 'must be a time such as 15m, 4h or 3d')
  .transform((value) => Number(value.slice(0, -1)) * (UNITS[value.slice(-1)] ?? 0));

/** Up to ten durations, or `none`. */
const durations = z
  .string()
  .transform((value) => (value === 'none' ? [] : value.split(',')))
  .pipe(z.array(z.string().trim().pipe(duration)).max(10, 'must be ten times or fewer'));

/** A setting is missing or wrong. The message is one line and names the variable. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const text = z.string().min(1);
const webUrl = z.url({ protocol: /^https?$/, error: 'must be an address that begins with http' });
/** The address of a page; paths are appended to it. */
const pageUrl = webUrl.transform((value) => value.replace(/\/+$/, ''));

const YES = ['1', 'true', 'yes', 'on'];
const yesOrNo = z.enum([...YES, '0', 'false', 'no', 'off'], 'must be true or false');
const flag = yesOrNo.default('false').transform((value) => YES.includes(value));
const choice = yesOrNo.transform((value) => YES.includes(value)).optional();

const port = z
  .string()
  .transform(Number)
  .pipe(z.number('must be a port number').int().min(0).max(65535, 'must be a port number'));

/** A port of this machine alone, or an address with a port. */
const adminAddress = z
  .string()
  .regex(/^(\S+:)?\d{1,5}$/, 'must be a port, or address:port')
  .transform((value) => {
    const colon = value.lastIndexOf(':');
    const host = colon < 0 ? '127.0.0.1' : value.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
    return { host, port: Number(value.slice(colon + 1)) };
  })
  .refine((address) => address.port <= 65535, 'must be a port, or address:port');

const whole = (min: number, fault: string, max = Number.MAX_SAFE_INTEGER) =>
  z.string().transform(Number).pipe(z.number(fault).int().min(min, fault).max(max, fault));
const seconds = whole(0, 'must be a number of seconds');
const count = whole(0, 'must be a number from 0');
const atLeastOne = whole(1, 'must be a number from 1');
/** Temporal's SDK reserves memory for each. */
const cachedRuns = whole(0, 'must be a number from 0 to 1000000', 1_000_000);
/** Longer timers of the platform end at once. */
const milliseconds = whole(0, 'must be a number of ms, below 25 days', 2 ** 31 - 1);

/** `acme=31536000,rival=0`: seconds by tenant. */
const secondsByTenant = z
  .string()
  .transform((text) => text.split(',').map((item) => /^(.+)=(\d{1,10})$/.exec(item.trim())))
  .refine((pairs) => !pairs.includes(null), 'must be tenant=seconds, separated by commas')
  .transform((pairs) => new Map(pairs.map((pair) => [pair?.[1] ?? '', Number(pair?.[2])])));

/** Comma-separated values. */
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

const origins = list.refine((items) => items.every(isOrigin), 'must be origins: https://host:port');

/** Hosts in the form that addresses have. */
const hosts = list
  .transform((items) => items.map((item) => item.toLowerCase()))
  .refine(
    (items) => items.every((item) => toHost(`https://${item}`) === item),
    'must be hosts, as files.example.com or files.example.com:8443',
  );

/** Keys that sign, the newest first. */
const signingKeys = list.refine(
  (keys) => keys.every((key) => key.length >= 32),
  'must have 32 characters or more',
);

const dollars = text
  .transform(Number)
  .refine((usd) => usd > 0 && usd < Infinity, 'must be a number above 0');

/** The number of proxies in front of the API, or their addresses. */
const proxies = list
  .transform((items) =>
    items.length === 1 && /^\d{1,2}$/.test(items[0] ?? '') ? Number(items[0]) : items,
  )
  .refine(
    (proxies) => typeof proxies === 'number' || proxies.every(isProxy),
    'must be a number of proxies, or addresses: 10.0.0.1, 10.0.0.0/8, loopback',
  );

const timeNames = Object.keys(TIMES) as (keyof Times)[];

/** Some times by name, as JSON. */
const times = z
  .string()
  .transform((value, context): unknown => {
    try {
      return JSON.parse(value);
    } catch {
      context.addIssue('must be JSON');
      return z.NEVER;
    }
  })
  .pipe(z.partialRecord(z.enum(timeNames), z.int().min(1)))
  .transform((given): Times => ({ ...TIMES, ...given }));

/** Every environment variable of the project, with its default. */
const EnvSchema = z.object({
  PORT: port.prefault('3000'),
  HOST: text.default('127.0.0.1'),
  /** Time that an API waits for a PORT in use. */
  LISTEN_WITHIN: seconds.default(0),
  /** The API's port of `/metrics`, `/healthz` and `/readyz`; absent: they are served on PORT alone. */
  METRICS_PORT: adminAddress.optional(),
  /** A worker's port of the same paths; absent: none. */
  WORKER_METRICS_PORT: adminAddress.optional(),
  REDIS_URL: z.string().refine(isRedisUrl, REDIS_URL_FORMS).default('redis://127.0.0.1:6379'),
  /** Retention of an ended run's stream; its transcript is kept longer. */
  STREAM_TTL: seconds.default(24 * 60 * 60),
  /** Retention of a session after its last run; 0: forever. */
  SESSION_TTL: seconds.default(0),
  /** Connection to Temporal, by the variables of its command line; see `readTemporal`. */
  TEMPORAL_ADDRESS: text.regex(/^\S+:\d{1,5}$/, 'must be host:port').optional(),
  TEMPORAL_NAMESPACE: text.optional(),
  TEMPORAL_API_KEY: text.optional(),
  TEMPORAL_CONFIG_FILE: text.optional(),
  TEMPORAL_PROFILE: text.optional(),
  TEMPORAL_TLS: z.enum(['1', 'true', '0', 'false'], 'must be true or false').optional(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: text.optional(),
  TEMPORAL_TLS_CLIENT_CERT_DATA: text.optional(),
  TEMPORAL_TLS_CLIENT_KEY_PATH: text.optional(),
  TEMPORAL_TLS_CLIENT_KEY_DATA: text.optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: text.optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_DATA: text.optional(),
  TEMPORAL_TLS_SERVER_NAME: text.optional(),
  /** Keys that encrypt the payloads of runs in Temporal; see `readPayloadKeys`. */
  TEMPORAL_CODEC_KEYS: text.optional(),
  TASK_QUEUE: text.default(DEFAULT_TASK_QUEUE),
  /** Worker versioning: this worker is that build of that deployment, and keeps the runs it began. */
  TEMPORAL_DEPLOYMENT_NAME: text
    .regex(/^(?!__)[^.:]+$/, 'must not contain . or :, nor begin with __')
    .optional(),
  TEMPORAL_WORKER_BUILD_ID: text.optional(),
  /** Concurrency limits of one worker process: model calls, tools, and tools of one user. */
  MODEL_SLOTS: atLeastOne.default(300),
  TOOL_SLOTS: atLeastOne.default(200),
  TOOLS_PER_USER: atLeastOne.default(50),
  /** Runs that one worker caches between their tasks; default: by its heap limit, up to 500. */
  CACHED_RUNS: cachedRuns.optional(),
  /** `<provider>:<model id>`; default: the scripted model. */
  MODEL: text.regex(/^[\w-]+(:.+)?$/, 'must be <provider>:<model id>').optional(),
  /** A run that was not started within this time is ended. */
  START_WITHIN: seconds.default(LIMITS.startWithinMs / 1000),
  /** Prefix of the worker's lease name, chosen by a supervisor. Default: random. */
  LEASE_ID: text.optional(),
  /** The `LEASE_ID` of a worker that has ended: its attempts are taken over without delay. */
  ENDED_LEASE_ID: text.optional(),
  /** Shorter times for tests and rehearsals, see `TIMES`. */
  HELIX_TIMES: times.prefault('{}'),
  DATA_DIR: text.default('.data'),
  TEMPORAL_UI_URL: pageUrl.optional(),
  DEFAULT_AGENT: text.optional(),
  /** File of the agents to run, from the folder of the process; default: the examples. */
  AGENTS: text.optional(),
  /** File of a person's own extensions, from the folder of the process. */
  EXTENSIONS: text.optional(),
  /** Folder of the page that the API serves; default: the page that the package has. */
  WEB_ROOT: text.optional(),
  /** True serves the lab agent; default: only on loopback while no accounts are configured. */
  LAB: choice,
  /** The shape of the lab agent's runs; `lab-leg` always has the shape `leg`. */
  LAB_SHAPE: z.enum(['leg'], 'must be leg').optional(),
  /** Policy for messages that arrive while a run is active, unless the request names one. */
  BUSY_POLICY: BusyPolicy.optional(),
  /** Serve without an authenticator: all requests come from the same user. */
  HELIX_ALLOW_UNAUTHENTICATED: flag,
  /** Key of the tokens with which users sign in; exactly one of three settings. */
  JWT_SECRET: text.optional(),
  JWT_PUBLIC_KEY: text.optional(),
  JWT_JWKS_URL: webUrl.optional(),
  JWT_ISSUER: text.optional(),
  JWT_AUDIENCE: text.optional(),
  JWT_USER_CLAIM: text.optional(),
  JWT_PERSON_CLAIM: text.optional(),
  JWT_TENANT_CLAIM: text.optional(),
  /** Claim with the roles of the user, and the names of the three roles there. */
  JWT_ROLES_CLAIM: text.optional(),
  JWT_TENANTS_CLAIM: text.optional(),
  VIEWER_ROLE: text.optional(),
  APPROVER_ROLE: text.optional(),
  OPERATOR_ROLE: text.optional(),
  /** Cookie that may carry the token. */
  JWT_COOKIE: text.optional(),
  /** True lets a reply finish after its caller's token expires. */
  REPLIES_OUTLIVE_TOKENS: flag,
  /** Origins of other pages that may use the API. */
  CORS_ORIGINS: origins.optional(),
  /** True if requests from these origins may carry cookies. */
  CORS_CREDENTIALS: flag,
  /** Requests per minute and sender; 0: unlimited. */
  MAX_REQUESTS_PER_MINUTE: count.optional(),
  MAX_OPEN_STREAMS: count.optional(),
  MAX_READ_MB_PER_MINUTE: count.optional(),
  /** Quotas of one user: active runs, queued messages, conversations, megabytes of text. */
  QUOTA_RUNS: atLeastOne.optional(),
  QUOTA_QUEUED: atLeastOne.optional(),
  QUOTA_SESSIONS: atLeastOne.optional(),
  QUOTA_MB: atLeastOne.optional(),
  /** Quotas of a tenant, as a multiple of a user's. */
  QUOTA_TENANT_FACTOR: atLeastOne.optional(),
  /** US dollars that one user, and all users of a tenant together, may spend in a day or month. */
  BUDGET_USER_DAY_USD: dollars.optional(),
  BUDGET_USER_MONTH_USD: dollars.optional(),
  BUDGET_TENANT_DAY_USD: dollars.optional(),
  BUDGET_TENANT_MONTH_USD: dollars.optional(),
  BUDGET_ACTION: z.enum(['refuse', 'warn'], 'must be refuse or warn').default('refuse'),
  /** Proxies whose `X-Forwarded-*` headers are trusted. */
  TRUSTED_PROXIES: proxies.optional(),
  /** Keys that sign the audit trail, the newest first; every API and worker needs them. */
  AUDIT_KEY: signingKeys.optional(),
  /** Retention of the audit trail; 0: forever. */
  AUDIT_TTL: seconds.default(0),
  /** Retention for single tenants, `acme=31536000,rival=0`. */
  AUDIT_TTL_TENANTS: secondsByTenant.optional(),
  /** Hosts whose files messages may name by https address. */
  FILE_HOSTS: hosts.optional(),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info'),
  /** The collector that gets traces; one of the two. Without it no code of OpenTelemetry is loaded. */
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: webUrl.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.enum(['http/json'], 'must be http/json').optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: z.enum(['http/json'], 'must be http/json').optional(),
  /** Collector of metrics from workers without WORKER_METRICS_PORT; default: that of traces. */
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: webUrl.optional(),
  OTEL_METRICS_EXPORTER: z.enum(['otlp', 'none'], 'must be otlp or none').default('otlp'),
  OTEL_METRIC_EXPORT_INTERVAL: atLeastOne.default(10_000),
  /** True counts the cost of models by tenant, which makes a series for each. */
  METRICS_TENANTS: flag,
  /** Turns traces, and metrics by OTLP, off. */
  OTEL_SDK_DISABLED: flag,
  /** True exports the texts of people, models and tools with traces. */
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: flag,
  /** File whose `redact` edits these texts before export. */
  TRACE_REDACT: text.optional(),
  /** `gen_ai_latest_experimental` among its items: names that are not released yet. */
  OTEL_SEMCONV_STABILITY_OPT_IN: list.optional(),
  /** Delay before spans are exported, ms. */
  OTEL_BSP_SCHEDULE_DELAY: milliseconds.optional(),
  /** A page that shows a trace, with `{traceId}`, `{runId}` or `{sessionId}` in it. */
  TRACE_URL_TEMPLATE: text
    .refine((value) => /\{(traceId|runId|sessionId)\}/.test(value) && URL.canParse(value), {
      error: 'must be a URL with {traceId}, {runId} or {sessionId} in it',
    })
    .optional(),
  /** Receivers of notices: a JSON list, or `@` and the path of a file with one. */
  NOTIFY_RECEIVERS: text.optional(),
  /** Reminders after the question, as `1h,24h`; `none`: no reminder. */
  NOTIFY_REMIND_AFTER: durations.optional(),
  /** Delay before receivers with `escalation` are notified. */
  NOTIFY_ESCALATE_AFTER: duration.optional(),
  /** A delivery is retried for this long. */
  NOTIFY_RETRY_FOR: duration.optional(),
  /** Notices of one user in an hour to a channel or mailbox. */
  NOTIFY_PER_HOUR: atLeastOne.optional(),
  /** True shows the input of calls in notices. */
  NOTIFY_INCLUDE_INPUT: flag,
  /** Keys of links that decide, the newest first. */
  NOTIFY_LINK_KEY: signingKeys.optional(),
  /** The mail server, `smtp://user:password@host:port`, and the sender. */
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be smtp://… or smtps://…' }).optional(),
  MAIL_FROM: text.optional(),
  /** Public address of the chat page, for links from the Temporal UI. */
  PUBLIC_URL: pageUrl.optional(),
  OPENAI_API_KEY: text.optional(),
  OPENAI_BASE_URL: webUrl.optional(),
  ANTHROPIC_API_KEY: text.optional(),
  ANTHROPIC_BASE_URL: webUrl.optional(),
  GOOGLE_GENERATIVE_AI_API_KEY: text.optional(),
  GOOGLE_GENERATIVE_AI_BASE_URL: webUrl.optional(),
  OPENAI_COMPATIBLE_BASE_URL: webUrl.optional(),
  OPENAI_COMPATIBLE_API_KEY: text.optional(),
});

/** The typed settings of a process. */
export type Config = z.infer<typeof EnvSchema>;

/**
 * Reads the settings from an environment. An empty value counts as absent, except for settings that
 * control sign-in: treating those as absent would let everyone in.
 *
 * @throws ConfigError naming every wrong variable, in one line
 */
export function parseEnv(env: Record<string, string | undefined>): Config {
  const keyFault = findKeyFault(env);
  if (keyFault !== undefined) throw new ConfigError(`Bad configuration: ${keyFault}`);
  const parsed = EnvSchema.safeParse(withoutBlank(env));
  if (parsed.success) {
    const { TEMPORAL_DEPLOYMENT_NAME: name, TEMPORAL_WORKER_BUILD_ID: build } = parsed.data;
    if ((name === undefined) === (build === undefined)) return parsed.data;
    throw new ConfigError(
      'Bad configuration: TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID need each other',
    );
  }
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
  throw new ConfigError(`Bad configuration: ${problems.join('; ')}`);
}

/** The variables that are set; an empty value counts as absent. */
export function withoutBlank(env: Record<string, string | undefined>): Record<string, string> {
  const present = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1].trim() !== '',
  );
  return Object.fromEntries(present);
}

/** Names of variables that were probably meant as settings of tokens. */
const MEANT_FOR_TOKENS = /^JW[TK]/i;

function findKeyFault(env: Record<string, string | undefined>): string | undefined {
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !MEANT_FOR_TOKENS.test(name)) continue;
    if (!(name in EnvSchema.shape)) {
      const known = Object.keys(EnvSchema.shape).filter((key) => MEANT_FOR_TOKENS.test(key));
      return `${name} is no setting; there are ${known.join(', ')}`;
    }
    if (value.trim() === '') return `${name} is blank; set it, or leave it out`;
  }
  return undefined;
}

function toHost(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}

/** Returns true for what Express takes: one of its names, an address or a network. */
function isProxy(item: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(item)) return true;
  const [address = '', bits = '1', ...more] = item.split('/');
  const most = isIP(address) === 6 ? 128 : 32;
  const isBits = /^\d+$/.test(bits) && Number(bits) >= 1 && Number(bits) <= most;
  return isIP(address) > 0 && more.length === 0 && (isBits || isIP(bits) === 4);
}

/** Returns true for an address that the Redis stores can connect to. */
export function isRedisUrl(text: string): boolean {
  return (/^rediss?:\/\//.test(text) && URL.canParse(text)) || MANY_HOSTS.test(text);
}

/** Returns the retention of a tenant's audit trail, s. */
export function readAuditTtl({
  AUDIT_TTL,
  AUDIT_TTL_TENANTS,
}: Pick<Config, 'AUDIT_TTL' | 'AUDIT_TTL_TENANTS'>): (tenant: string | undefined) => number {
  return (tenant = '') => AUDIT_TTL_TENANTS?.get(tenant) ?? AUDIT_TTL;
}

/** Builds the operators' address of a run; undefined without a public address. */
export function consoleUrlOf(
  publicUrl: string | undefined,
): ((sessionId: string, runId: string) => string) | undefined {
  if (publicUrl === undefined) return undefined;
  return (_sessionId, runId) => `${publicUrl}/console/runs/${encodeURIComponent(runId)}`;
}
