import type { Extension } from '../../extension.js';
import { FILE_ROUTES } from './routes.js';

/** Lets people upload files to conversations and download those that agents make. */
export function files(): Extension {
  return { name: 'files', routes: FILE_ROUTES };
}
