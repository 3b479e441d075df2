import { useCallback, useEffect, useState, type ReactElement } from 'react';
import { Refusal } from './api-client.js';

interface Props {
  text: string;
  /** Absent if the person repeats the act where it began. */
  onAgain?: () => void;
}

/** Shows a failure outside of the conversation, with a button to try again. */
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
 * Loads a dialog's data when it opens, and again on `load`.
 * @param read must keep its identity while the same data is wanted
 * @param what subject of the error sentence
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

/**
 * Describes a failed request for people.
 * @param what subject of the sentence, such as "The list"
 */
export function describeFault(error: unknown, what: string): string {
  return error instanceof Refusal ? error.message : `${what} cannot be reached at the moment.`;
}
