import { ConfigError, type Config } from '../../config/env.js';
import type { ApiDeps, Authenticate } from '../../api/index.js';
import { createJwtAuthenticator } from './index.js';
import { loadJose } from './load-jose.js';

type Access = Pick<
  ApiDeps,
  | 'authenticate'
  | 'allowUnauthenticated'
  | 'allowedOrigins'
  | 'allowCredentials'
  | 'limits'
  | 'trustedProxies'
  | 'hostNames'
  | 'repliesOutliveTokens'
>;

/**
 * Reads authentication, allowed origins and limits from the settings. A key for tokens overrides
 * `HELIX_ALLOW_UNAUTHENTICATED`.
 *
 * @throws ConfigError if no key is set and `HELIX_ALLOW_UNAUTHENTICATED` is not set either;
 * MissingPackageError
 */
export async function readAccess(config: Config): Promise<Access> {
  const authenticate = await createAuthenticator(config);
  if (authenticate === undefined && !config.HELIX_ALLOW_UNAUTHENTICATED) {
    throw new ConfigError(
      'Bad configuration: set JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL, or HELIX_ALLOW_UNAUTHENTICATED to make every caller the same user',
    );
  }
  return {
    authenticate,
    allowUnauthenticated: authenticate === undefined,
    allowedOrigins: config.CORS_ORIGINS,
    allowCredentials: config.CORS_CREDENTIALS,
    limits: {
      requestsPerMinute: config.MAX_REQUESTS_PER_MINUTE,
      openStreams: config.MAX_OPEN_STREAMS,
      readBytesPerMinute:
        config.MAX_READ_MB_PER_MINUTE && config.MAX_READ_MB_PER_MINUTE * 1024 * 1024,
    },
    trustedProxies: config.TRUSTED_PROXIES,
    repliesOutliveTokens: config.REPLIES_OUTLIVE_TOKENS,
    // DNS rebinding works on any address: a container's port may be published on loopback only.
    hostNames: authenticate === undefined ? toHostNames(config) : undefined,
  };
}

/** Warns of valid settings that admit more than an operator may expect. */
export function warnOfAccess(config: Config, hasAccounts: boolean): string[] {
  if (!hasAccounts)
    return ['there is no sign-in: every caller that reaches the api is the same user'];
  const warnings: string[] = [];
  if (config.JWT_JWKS_URL !== undefined && config.JWT_AUDIENCE === undefined) {
    warnings.push(
      'JWT_AUDIENCE is not set: tokens for other applications of the issuer are accepted',
    );
  }
  if (config.AUDIT_KEY === undefined) {
    warnings.push('AUDIT_KEY is not set: entries of the audit trail are chained, but not signed');
  }
  return warnings;
}

function toHostNames({ PUBLIC_URL }: Config): string[] {
  return PUBLIC_URL === undefined ? [] : [new URL(PUBLIC_URL).hostname];
}

async function createAuthenticator(config: Config): Promise<Authenticate | undefined> {
  const { JWT_SECRET, JWT_PUBLIC_KEY, JWT_JWKS_URL } = config;
  if (JWT_SECRET === undefined && JWT_PUBLIC_KEY === undefined && JWT_JWKS_URL === undefined) {
    return undefined;
  }
  await loadJose();
  try {
    return createJwtAuthenticator({
      secret: JWT_SECRET,
      // Values of env files have no line breaks.
      publicKey: JWT_PUBLIC_KEY?.replaceAll('\\n', '\n'),
      jwksUrl: JWT_JWKS_URL,
      issuer: config.JWT_ISSUER,
      audience: config.JWT_AUDIENCE,
      userClaim: config.JWT_USER_CLAIM,
      personClaim: config.JWT_PERSON_CLAIM,
      tenantClaim: config.JWT_TENANT_CLAIM,
      tenantsClaim: config.JWT_TENANTS_CLAIM,
      rolesClaim: config.JWT_ROLES_CLAIM,
      roleNames: {
        viewer: config.VIEWER_ROLE,
        approver: config.APPROVER_ROLE,
        operator: config.OPERATOR_ROLE,
      },
      cookie: config.JWT_COOKIE,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`Bad configuration: JWT_*: ${reason}`);
  }
}
