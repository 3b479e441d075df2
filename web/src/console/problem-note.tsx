import type { ReactElement } from 'react';
import { Refusal } from '../api-client.js';

interface Props {
  /** Without an error, nothing is shown. */
  error: Error | null | undefined;
  what: string;
}

/** Says in plain words why a request failed and what to do. */
export function ProblemNote({ error, what }: Props): ReactElement | null {
  if (!error) return null;
  return (
    <p className="error-line" role="alert" data-testid="problem">
      {describeProblem(error, what)}
    </p>
  );
}

/** Pure. */
export function describeProblem(error: Error, what: string): string {
  if (!(error instanceof Refusal)) {
    return `${what} cannot be reached right now. It is tried again.`;
  }
  const { statusCode, message } = error;
  if (statusCode === 401) return 'Your sign-in has expired. Sign in again, then reload this page.';
  if (statusCode === 403) {
    return `${message} Ask an administrator for the role viewer, approver or operator.`;
  }
  if (statusCode === 404) return `${what} does not exist, or is not yours to see.`;
  if (statusCode === 429) return 'Too many requests. Wait a moment.';
  return message;
}
