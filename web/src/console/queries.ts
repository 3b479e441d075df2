import { keepPreviousData, QueryClient } from '@tanstack/react-query';
import { Refusal } from '../api-client.js';

/** How often lists are read again while a person looks at them, ms. */
export const REFRESH_MS = { soon: 1_500, usual: 5_000, seldom: 30_000 } as const;

/** The reads of the console: what was shown stays until the next answer is there. */
export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        placeholderData: keepPreviousData,
        // What the server refuses, it refuses again.
        retry: (count, error) => !(error instanceof Refusal) && count < 2,
        retryDelay: 500,
        staleTime: 500,
      },
    },
  });
}
