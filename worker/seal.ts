import { ApplicationFailure, CancelledFailure, CompleteAsyncError } from '@temporalio/activity';
import type {
  ActivityInterceptorsFactory,
  NexusInterceptorsFactory,
  WorkerOptions,
} from '@temporalio/worker';
import { SEALED_FAILURE } from '../protocol/temporal.js';

const MOST_CHARS = 4_096;

/**
 * With a payload codec, failures of activities and Nexus operations keep their texts in the details,
 * which the codec encrypts: Temporal stores the message and the stack of a failure as they are. The
 * type stays, since operators search by it. The seal is the outermost interceptor, so that no other
 * one adds texts after it.
 */
export function withSeal({ dataConverter, interceptors }: WorkerOptions): Partial<WorkerOptions> {
  if ((dataConverter?.payloadCodecs ?? []).length === 0) return {};
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

/** Names of the errors by which handlers of operations tell the outcome; their package may be missing. */
const OUTCOMES: ReadonlySet<string> = new Set(['OperationError', 'HandlerError']);

function throwSealedOperation(error: unknown): never {
  if (!(error instanceof Error) || !OUTCOMES.has(error.name)) throwSealed(error);
  const { cause, message } = error;
  error.cause = toSealedFailure(cause ?? ApplicationFailure.create({ message, type: error.name }));
  error.message = SEALED_FAILURE;
  error.stack = '';
  throw error;
}

/** Returns the failure without its texts; cancellation and async completion pass unchanged. */
export function toSealedFailure(error: unknown): unknown {
  if (error instanceof CancelledFailure || error instanceof CompleteAsyncError) return error;
  const { message, stack } = error instanceof Error ? error : { message: String(error) };
  const text = { message, stack: stack?.slice(0, MOST_CHARS) };
  const known = error instanceof ApplicationFailure ? error : undefined;
  const sealed = ApplicationFailure.create({
    message: SEALED_FAILURE,
    type: known?.type ?? (error instanceof Error ? error.name : 'Error'),
    nonRetryable: known?.nonRetryable ?? false,
    ...(known?.nextRetryDelay != null && { nextRetryDelay: known.nextRetryDelay }),
    ...(known?.category != null && { category: known.category }),
    details: [...(known?.details ?? []), text],
  });
  sealed.stack = '';
  return sealed;
}
