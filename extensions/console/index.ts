import type { Extension } from '../../extension.js';
import { OPERATOR_AGENT_ROUTES } from './agents.js';
import { OPERATOR_RUN_ROUTES } from './runs.js';
import { OPERATOR_SESSION_ROUTES } from './sessions.js';
import { OPERATOR_WAITING_ROUTES } from './waiting.js';

/** Lets operators of a tenant see what waits, and handle its runs, agents and workers. */
export function operatorConsole(): Extension {
  return {
    name: 'console',
    routes: [
      ...OPERATOR_WAITING_ROUTES,
      ...OPERATOR_RUN_ROUTES,
      ...OPERATOR_AGENT_ROUTES,
      ...OPERATOR_SESSION_ROUTES,
    ],
  };
}
