import { useCallback, useEffect, useState, type ReactElement } from 'react';
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

/**
 * What a dialog shows of the server: read when it opens, and again by `load`.
 *
 * @param read the same function for as long as the same is to be read
 * @param what the beginning of the sentence that says that it failed
 */
export function useLoaded<T>(
  read: () => Promise<T>,
  what: string,
): { found: T | undefined; fault: string | undefined; load: () => Promise<void> } {
  const [found, setFound] = useState<T>();
  const [fault, setFault] = useState<string>();
  const load = useCallback(async () => {
    try {
      const now = await read();
      setFound(() => now);
      setFault(undefined);
    } catch (error) {
      setFault(describeFault(error, what));
    }
  }, [read, what]);
  useEffect(() => {
    void load();
  }, [load]);
  return { found, fault, load };
}

/** Why a request failed, for people. @param what the beginning of the sentence, as "The list" */
export function describeFault(error: unknown, what: string): string {
  return error instanceof Refusal ? error.message : `${what} cannot be reached at the moment.`;
}
