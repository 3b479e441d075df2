import { createRequire } from 'node:module';
import type * as prometheus from 'prom-client';
import { orMissing } from '../../protocol/optional-package.js';

export type Prometheus = typeof prometheus;

/** Loads at once, since counting begins with the first request. @throws MissingPackageError */
export function loadPrometheus(): Prometheus {
  try {
    return createRequire(import.meta.url)('prom-client') as Prometheus;
  } catch (error) {
    return orMissing('The meter of the API', 'prom-client@15')(error);
  }
}
