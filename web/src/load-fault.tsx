import type { ReactElement } from 'react';
import { Refusal } from './api-client.js';

interface Props {
  /** What was not read or done. */
  text: string;
  /** Absent if the person repeats it in the place where it began. */
  onAgain?: () => void;
}

/** Something beside the conversation went wrong: why, and the way on. */
export function LoadFault({ text, onAgain }: Props): ReactElement {
  return (
    <div className="error-line" role="alert" data-testid="load-fault">
      <span>{text}</span>
      {onAgain !== undefined && (
        <button type="button" data-testid="load-again" onClick={onAgain}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Why a request failed, for people. @param what the beginning of the sentence, as "The list" */
export function describeFault(error: unknown, what: string): string {
  return error instanceof Refusal ? error.message : `${what} cannot be reached at the moment.`;
}
