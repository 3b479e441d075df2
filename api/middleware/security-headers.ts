import type { RequestHandler } from 'express';
import helmet from 'helmet';

/**
 * What browsers are told not to do. The page loads nothing but its own files. Whether a host is reached by HTTPS only is for
 * those to say who end TLS, so neither HSTS nor upgrades are asked for here.
 */
export function createSecurityHeaders(): RequestHandler {
  return helmet({
    strictTransportSecurity: false,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        baseUri: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        imgSrc: ["'self'", 'data:'],
        mediaSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        scriptSrc: ["'self'"],
        scriptSrcAttr: ["'none'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
      },
    },
    frameguard: { action: 'deny' },
  });
}
