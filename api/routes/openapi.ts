import { Router } from 'express';
import { readOpenApi } from '../openapi/document.js';

/** What can be asked, for programs that make clients of it. It tells nothing of anybody's. */
export function createOpenApiRoutes(): Router {
  const router = Router();
  let text: string | undefined;
  router.get('/', (_request, response) => {
    text ??= JSON.stringify(readOpenApi());
    response.type('application/json').send(text);
  });
  return router;
}
