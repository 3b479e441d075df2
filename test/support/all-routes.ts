import { createOpenApiOf } from '../../api/create-api.js';
import { routesOf } from '../../api/routes/index.js';
import { allExtensions } from '../../extensions/index.js';

const extensions = allExtensions();

/** Of an API with all extensions of the package. */
export const ROUTES = routesOf({ extensions });
export const OPEN_API = createOpenApiOf(extensions);
