import { APICallError } from '@ai-sdk/provider';

const MAX_TEXT = 2_000;

/**
 * An error of a provider as it may go to the log: bounded, and without the request, which holds the
 * whole conversation and may hold a key.
 */
export function toLoggedError(error: unknown): object {
  if (!(error instanceof Error)) return { value: cut(describe(error)) };
  const { name, message, stack, cause } = error;
  return {
    name,
    message: cut(message),
    stack: cut(stack ?? ''),
    ...(APICallError.isInstance(error) && {
      statusCode: error.statusCode,
      responseBody: cut(error.responseBody ?? ''),
    }),
    ...('code' in error && { code: cut(String(error.code)) }),
    ...(cause instanceof Error && { cause: cut(`${cause.name}: ${cause.message}`) }),
  };
}

function describe(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return String(value);
  }
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
