import express from 'express';
import type { Express } from 'express';
import { isSessionId, rootOf, sessionOfRun, toShownSessionId } from '../protocol/ids.js';

/** The chat page, and the console under each of its addresses. */
export function servePages(app: Express, webRoot: string): void {
  app.use(express.static(webRoot));
  app.get(['/console', '/console/*place'], (request, response, next) => {
    response.sendFile('console.html', { root: webRoot, cacheControl: false }, (error) => {
      if (error === undefined || response.headersSent) return;
      // A folder of another page has no console: the link of a notice leads to the conversation.
      const sessionId = sessionOfPlace(request.path);
      if (sessionId === undefined) next();
      else response.redirect(`/?session=${sessionId}`);
    });
  });
}

/** The conversation that an address of the console is about. */
function sessionOfPlace(path: string): string | undefined {
  const [, named = ''] = /^\/console\/(?:waiting|runs)\/([^/]+)$/.exec(path) ?? [];
  const sessionId = toShownSessionId(rootOf(sessionOfRun(named.replaceAll(/%3A/gi, ':'))));
  return isSessionId(sessionId) ? sessionId : undefined;
}
