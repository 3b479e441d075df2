import { useCallback, useEffect, useRef, useState, type ReactElement } from 'react';
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
 * Loads data when they are first shown and when `read` changes, and again on `load`, which calls
 * the newest `read` even if it was taken from an earlier render. A reply to an earlier load is dropped.
 *
 * @param read must keep its identity while the same data is wanted
 * @param what subject of the error sentence
 * @param pauseMs time until a changed `read` is called
 */
export function useLoaded<T>(
  read: (signal?: AbortSignal) => Promise<T>,
  what: string,
  pauseMs = 0,
): { found: T | undefined; fault: string | undefined; load: () => Promise<void> } {
  const [found, setFound] = useState<T>();
  const [fault, setFault] = useState<string>();
  const wanted = useRef(read);
  const newest = useRef(0);
  useEffect(() => {
    wanted.current = read;
  });
  const load = useCallback(
    async (signal?: AbortSignal) => {
      const number = (newest.current += 1);
      try {
        const now = await wanted.current(signal);
        if (newest.current !== number) return;
        setFound(() => now);
        setFault(undefined);
      } catch (error) {
        if (newest.current === number) setFault(describeFault(error, what));
      }
    },
    [what],
  );
  useEffect(() => {
    const controller = new AbortController();
    const timer = setTimeout(() => void load(controller.signal), pauseMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
      newest.current += 1;
    };
  }, [load, read, pauseMs]);
  return { found, fault, load: () => load() };
}

/** Tracks a request: `busy` while it is in flight, then the error if it failed. */
export function useSending(): {
  busy: boolean;
  error: Error | undefined;
  send: (sent: Promise<unknown>) => Promise<void>;
} {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const send = async (sent: Promise<unknown>): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await sent;
    } catch (fault) {
      setError(fault instanceof Error ? fault : new Error(String(fault)));
    }
    setBusy(false);
  };
  return { busy, error, send };
}

/**
 * Describes a failed request for people.
 * @param what subject of the sentence, such as "The list"
 */
export function describeFault(error: unknown, what: string): string {
  return error instanceof Refusal ? error.message : `${what} cannot be reached at the moment.`;
}
