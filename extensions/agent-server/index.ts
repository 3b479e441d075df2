import type { Extension } from '../../extension.js';
import { AGENT_ROUTES } from './routes.js';

/** Lets programs, and agents of other servers, start, follow and answer runs. */
export function agentServer(): Extension {
  return { name: 'agent-server', routes: AGENT_ROUTES };
}
