import type { Extension } from '../../extension.js';
import { AG_UI_ROUTES } from './ag-ui/routes.js';
import { OPENAI_HEADERS, OPENAI_PROBLEMS } from './openai/problem.js';
import { OPENAI_ROUTES } from './openai/routes.js';

/** Serves agents to programs of other protocols: completions of OpenAI below `/v1`, and AG-UI. */
export function fronts(): Extension {
  return {
    name: 'fronts',
    routes: [...OPENAI_ROUTES, ...AG_UI_ROUTES],
    problems: OPENAI_PROBLEMS,
    crossOrigin: OPENAI_HEADERS,
  };
}
