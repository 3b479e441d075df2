import type { Extension } from '../../extension.js';
import { AGENT_ROUTES } from './routes.js';

/** Programs, and agents that delegate to those here, start runs, follow and answer them. */
export function agentServer(): Extension {
  return { name: 'agent-server', routes: AGENT_ROUTES };
}
