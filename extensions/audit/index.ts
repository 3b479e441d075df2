import type { Extension } from '../../extension.js';
import { AUDIT_ROUTES } from './routes.js';

/** Lets operators read, verify and export the audit trail of their tenant. */
export function audit(): Extension {
  return { name: 'audit', routes: AUDIT_ROUTES };
}
