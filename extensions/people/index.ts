import type { Extension } from '../../extension.js';
import { ME_ROUTES } from './me-routes.js';
import { PEOPLE_ROUTES } from './routes.js';

/** Exports and erases what is stored about a person: for the person, and for operators. */
export function people(): Extension {
  return { name: 'people', routes: [...PEOPLE_ROUTES, ...ME_ROUTES] };
}
