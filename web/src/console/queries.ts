import { keepPreviousData, QueryClient } from '@tanstack/react-query';
import { Refusal } from '../api-client.js';

/** Intervals, ms, at which a visible list is read again. */
export const REFRESH_MS = { soon: 1_500, usual: 5_000, seldom: 30_000 } as const;

/** Creates the console's query cache. Old data stays on screen until the next answer arrives. */
export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        placeholderData: keepPreviousData,
        // A refusal would repeat.
        retry: (count, error) => !(error instanceof Refusal) && count < 2,
        retryDelay: 500,
        staleTime: 500,
      },
    },
  });
}
