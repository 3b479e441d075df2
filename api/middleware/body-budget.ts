import type { Request } from 'express';
import { HelixError } from '../../protocol/errors.js';

/** What one request takes of its sender's budget. */
export interface BodyShare {
  /** Counts bytes that have come. @throws HelixError `too_many_requests` if they are more than is left */
  take: (bytes: number) => void;
  /** Gives all of it back. */
  release: () => void;
}

export type BodyBudget = (request: Request) => Promise<BodyShare>;

/** Bounds the bytes of bodies that one sender has on their way, unpacked, in this process. */
export function createBodyBudget(
  limit: number,
  keyOf: (request: Request) => Promise<string>,
): BodyBudget {
  const taken = new Map<string, number>();
  return async (request) => {
    const key = await keyOf(request);
    let own = 0;
    const change = (by: number): void => {
      own += by;
      const all = (taken.get(key) ?? 0) + by;
      if (all === 0) taken.delete(key);
      else taken.set(key, all);
    };
    return {
      take: (bytes) => {
        if ((taken.get(key) ?? 0) + bytes > limit) {
          throw new HelixError(
            'too_many_requests',
            'Too much is being sent at once; wait a little.',
          );
        }
        change(bytes);
      },
      release: () => {
        change(-own);
      },
    };
  };
}
