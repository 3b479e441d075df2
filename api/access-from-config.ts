import { ConfigError, type Config } from '../config/env.js';
import type { ApiDeps } from './deps.js';
import type { Authenticate } from './identity.js';
import { createJwtAuthenticator } from './jwt-authenticator.js';

type Access = Pick<
  ApiDeps,
  | 'authenticate'
  | 'allowUnauthenticated'
  | 'allowedOrigins'
  | 'allowCredentials'
  | 'limits'
  | 'trustedProxies'
  | 'hostNames'
>;

/**
 * Who may do how much, by the settings. Tokens count before everything else.
 *
 * @throws ConfigError if nobody could sign in, and nobody said that nobody has to
 */
export function readAccess(config: Config): Access {
  const authenticate = createAuthenticator(config);
  if (authenticate === undefined && !config.HELIX_ALLOW_UNAUTHENTICATED) {
    throw new ConfigError(
      'Bad configuration: set JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL, or HELIX_ALLOW_UNAUTHENTICATED if everybody is to be the same user',
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
    },
    trustedProxies: config.TRUSTED_PROXIES,
    // Names that others made to lead here are not served, wherever it listens: a container's port may
    // be published on loopback only.
    ...(authenticate === undefined && {
      hostNames: config.PUBLIC_URL === undefined ? [] : [new URL(config.PUBLIC_URL).hostname],
    }),
  };
}

function createAuthenticator(config: Config): Authenticate | undefined {
  const { JWT_SECRET, JWT_PUBLIC_KEY, JWT_JWKS_URL } = config;
  if (JWT_SECRET === undefined && JWT_PUBLIC_KEY === undefined && JWT_JWKS_URL === undefined) {
    return undefined;
  }
  try {
    return createJwtAuthenticator({
      secret: JWT_SECRET,
      // Env files have no line breaks in their values.
      publicKey: JWT_PUBLIC_KEY?.replaceAll('\\n', '\n'),
      jwksUrl: JWT_JWKS_URL,
      issuer: config.JWT_ISSUER,
      audience: config.JWT_AUDIENCE,
      userClaim: config.JWT_USER_CLAIM,
      tenantClaim: config.JWT_TENANT_CLAIM,
      cookie: config.JWT_COOKIE,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`Bad configuration: JWT_*: ${reason}`);
  }
}
