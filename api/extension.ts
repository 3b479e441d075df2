import type { RequestHandler } from 'express';
import type { Tracer } from '../protocol/telemetry.js';
import type { RouteDeps } from './deps.js';
import type { ApiMetrics } from './metrics.js';
import type { CrossOriginHeaders } from './middleware/guards.js';
import type { ProblemShape } from './middleware/refusals.js';
import type { Route } from './routes/route.js';

/** What an extension adds to the HTTP API. */
export interface ApiExtension {
  readonly name: string;
  /** Declared as those of the API: `defineRoute` makes them, and the OpenAPI document shows them. */
  routes?: readonly Route[];
  /** Refusals below a path in the shape of another protocol. */
  problems?: ProblemShape;
  /** Headers that pages of other origins may send and read, besides those of the API. */
  crossOrigin?: CrossOriginHeaders;
  /** Handlers of Express that every request passes, before its caller is known. */
  middleware?: readonly RequestHandler[];
  /** Pages without a known caller, behind the middleware of all. */
  pages?: (deps: RouteDeps) => readonly RequestHandler[];
  /** Counts what the app does, unless `createApi` has metrics; of one extension of a process. */
  metrics?: () => ApiMetrics;
  /** Describes all routes of the app, and the refusals in other shapes; of one extension. */
  openApi?: (routes: readonly Route[], problems: readonly ProblemShape[]) => object;
  /** Gives requests their traces; of one extension of a process. */
  tracer?: Tracer;
}
export type { CrossOriginHeaders } from './middleware/guards.js';
export type { ProblemShape } from './middleware/refusals.js';
export { toAgentCards } from './agent-cards.js';
export type { RouteDeps } from './deps.js';
export type { ApiMetrics, StreamMeter } from './metrics.js';
export { readCookie } from './cookies.js';
export { personIdOf, toActor } from './identity.js';
export type { Authenticate, Identity } from './identity.js';
export type { Frames } from './pipe-to-express.js';
export { SESSION, SESSION_AND_RUN, defineRoute, inJson, mayStream } from './routes/route.js';
export type { Call, Reply, Route } from './routes/route.js';
export { sendLines, streamReply, untilExpiry } from './stream-reply.js';
export {
  answerCall,
  extendDeadline,
  NOT_TAKEN,
  resumeRun,
  retryRun,
  sendRun,
  stopRun,
  toAnswer,
  toAnswerReply,
} from './acts.js';
export { fileTooLarge, readBody } from './middleware/read-body.js';
export { isTakenType, maxFileBytes } from './file-settings.js';
export type { FileSettings } from './file-settings.js';
export {
  listHidden,
  mayRead,
  mayReadRun,
  openForOperator,
  openRunForOperator,
  readHidden,
  requireNoTenant,
  requireRole,
  requireSecondOperator,
  toOperatorQuestions,
} from './operator-access.js';
export type { About } from './record-access.js';
export { nameOfRequest } from './routes/once.js';
