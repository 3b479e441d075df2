import type { RequestHandler } from 'express';
import type { RequestTracer } from '../protocol/telemetry.js';
import type { RouteDeps } from './deps.js';
import type { ApiMetrics } from './metrics.js';
import type { CrossOriginHeaders } from './middleware/guards.js';
import type { ProblemShape } from './middleware/refusals.js';
import type { Route } from './routes/route.js';

/** Contributions of an extension to the HTTP API. */
export interface ApiExtension {
  readonly name: string;
  /** Routes made by `defineRoute`; the OpenAPI document lists them. */
  routes?: readonly Route[];
  /** Shape of refusals under a path that serves another protocol. */
  problems?: ProblemShape;
  /** Headers that pages of other origins may send and read, besides those of the API. */
  crossOrigin?: CrossOriginHeaders;
  /** Express handlers that every request passes before authentication. */
  middleware?: readonly RequestHandler[];
  /** Pages that need no caller, mounted after the middleware of all extensions. */
  pages?: (deps: RouteDeps) => readonly RequestHandler[];
  /** Metrics of the app if `createApi` gets none; the first extension that has them wins. */
  metrics?: () => ApiMetrics;
  /** Describes all routes and problem shapes; the first extension that has this wins. */
  openApi?: (
    routes: readonly Route[],
    problems: readonly ProblemShape[],
  ) => object | Promise<object>;
  /** Gives requests their traces; of one extension of a process. */
  tracer?: RequestTracer;
}
export type { CrossOriginHeaders } from './middleware/guards.js';
export type { ProblemShape } from './middleware/refusals.js';
export { toAgentCards } from './agent-cards.js';
export type { RouteDeps } from './deps.js';
export { NO_METRICS, type ApiMetrics, type StreamMeter } from './metrics.js';
export { readCookie } from './cookies.js';
export { personIdOf, toActor, type Authenticate, type Identity } from './identity.js';
export type { Frames } from './pipe-to-express.js';
export { SESSION, SESSION_AND_RUN, defineRoute, inJson, mayStream } from './routes/route.js';
export type { About, Call, Reply, Route } from './routes/route.js';
export { sendLines, sendMessages, sendPieces } from './send-pieces.js';
export { streamReply, untilExpiry } from './stream-reply.js';
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
export { isTakenType, maxFileBytes, type FileSettings } from './file-settings.js';
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
export { nameOfRequest } from './routes/idempotency.js';
export { readSettled } from './routes/sessions.js';
