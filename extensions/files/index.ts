import type { Extension } from '../../extension.js';
import { FILE_ROUTES } from './routes.js';

/** People add files to conversations, and get those that agents make. */
export function files(): Extension {
  return { name: 'files', routes: FILE_ROUTES };
}
