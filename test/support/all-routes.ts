import type { oas31 } from 'zod-openapi';
import { routesOf } from '../../api/routes/index.js';
import { allExtensions } from '../../extensions/index.js';
import { createOpenApi } from '../../extensions/openapi/index.js';

const extensions = allExtensions();

export const ROUTES = routesOf({ extensions });
export const OPEN_API = (await createOpenApi(
  ROUTES,
  extensions.flatMap(({ problems }) => problems ?? []),
)) as oas31.OpenAPIObject;
