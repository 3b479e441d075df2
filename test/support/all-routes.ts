import { routesOf } from '../../api/routes/index.js';
import { allExtensions } from '../../extensions/index.js';
import { createOpenApi } from '../../extensions/openapi/index.js';

const extensions = allExtensions();

/** Routes of an API with all extensions of the package. */
export const ROUTES = routesOf({ extensions });
export const OPEN_API = createOpenApi(
  ROUTES,
  extensions.flatMap(({ problems }) => problems ?? []),
);
