import { ApplicationFailure, CancelledFailure, CompleteAsyncError } from '@temporalio/activity';
import type {
  ActivityInterceptorsFactory,
  NexusInterceptorsFactory,
  WorkerOptions,
} from '@temporalio/worker';
import { SEALED_FAILURE } from '../protocol/temporal.js';
import { hasCodec } from '../runs/extension.js';
import { codeOf } from '../runs/temporal-calls.js';

const MAX_CHARS = 4_096;

/**
 * With a payload codec, failures of activities and Nexus operations keep their texts in the details,
 * which the codec encrypts: Temporal stores the message and the stack of a failure as they are. The
 * type stays, since operators search by it. The seal is the outermost interceptor, so that no other
 * one adds texts after it.
 */
export function withSeal({ dataConverter, interceptors }: WorkerOptions): Partial<WorkerOptions> {
  if (!hasCodec(dataConverter)) return {};
  const { activity = [], nexus = [] } = interceptors ?? {};
  return {
    interceptors: {
      ...interceptors,
      activity: [sealActivities, ...activity],
      nexus: [sealOperations, ...nexus],
    },
  };
}

const sealActivities: ActivityInterceptorsFactory = () => ({
  inbound: { execute: (input, next) => next(input).catch(throwSealed) },
});

const sealOperations: NexusInterceptorsFactory = () => ({
  inbound: {
    startOperation: (input, next) => next(input).catch(throwSealedOperation),
    cancelOperation: (input, next) => next(input).catch(throwSealedOperation),
  },
});

function throwSealed(error: unknown): never {
  throw toSealedFailure(error);
}

/** Names of errors, instead of classes, whose package may be missing. */
const OUTCOMES: ReadonlySet<string> = new Set(['OperationError', 'HandlerError']);
const REFUSALS: ReadonlySet<string> = new Set([
  'WorkflowExecutionAlreadyStartedError',
  'ActivityExecutionAlreadyStartedError',
]);

function throwSealedOperation(error: unknown): never {
  if (!(error instanceof Error)) throwSealed(error);
  // From refusals of Temporal, the SDK derives whether to try again. Temporal knows their texts.
  if (REFUSALS.has(error.name) || (error.name === 'ServiceError' && codeOf(error) !== undefined))
    throw error;
  if (!OUTCOMES.has(error.name)) throwSealed(error);
  // A handler may throw one error again and again.
  if (error.message === SEALED_FAILURE) throw error;
  const { cause } = error;
  const texts = cause === undefined ? [textOf(error)] : [textOf(cause), textOf(error)];
  error.cause = seal(cause ?? error, texts);
  error.message = SEALED_FAILURE;
  error.stack = '';
  throw error;
}

/** Returns the failure without its texts; cancellation and async completion pass unchanged. */
export function toSealedFailure(error: unknown): unknown {
  if (error instanceof CancelledFailure || error instanceof CompleteAsyncError) return error;
  return seal(error, [textOf(error)]);
}

function textOf(error: unknown): { message: string; stack?: string | undefined } {
  const { message, stack } = error instanceof Error ? error : { message: String(error) };
  return { message, stack: stack?.slice(0, MAX_CHARS) };
}

/** Returns a failure of the error's type. Callers read the last of the texts. */
function seal(error: unknown, texts: readonly object[]): ApplicationFailure {
  const known = error instanceof ApplicationFailure ? error : undefined;
  const sealed = ApplicationFailure.create({
    message: SEALED_FAILURE,
    type: known?.type ?? (error instanceof Error ? error.name : 'Error'),
    nonRetryable: known?.nonRetryable ?? false,
    ...(known?.nextRetryDelay != null && { nextRetryDelay: known.nextRetryDelay }),
    ...(known?.category != null && { category: known.category }),
    details: [...(known?.details ?? []), ...texts],
  });
  sealed.stack = '';
  return sealed;
}
