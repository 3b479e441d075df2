import { ApplicationFailure, CancelledFailure, CompleteAsyncError } from '@temporalio/activity';
import type { ActivityInterceptorsFactory, WorkerOptions } from '@temporalio/worker';
import { SEALED_FAILURE } from '../protocol/temporal-names.js';

/**
 * With a payload codec, failures of activities keep their texts in the details, which the codec
 * encrypts: Temporal stores the message and the stack of a failure as they are. The type stays, since
 * operators search by it.
 */
const sealFailures: ActivityInterceptorsFactory = () => ({
  inbound: {
    execute: async (input, next) => {
      try {
        return await next(input);
      } catch (error) {
        throw toSealedFailure(error);
      }
    },
  },
});

/** The failure without its texts; what ends an attempt in an orderly way has none. */
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

const MOST_CHARS = 4_096;

/** Failures go through the seal last, whatever other interceptors do with them. */
export function withSeal({ dataConverter, interceptors }: WorkerOptions): Partial<WorkerOptions> {
  if ((dataConverter?.payloadCodecs ?? []).length === 0) return {};
  const { activity = [] } = interceptors ?? {};
  return { interceptors: { ...interceptors, activity: [sealFailures, ...activity] } };
}
