/** Slots of one process that users share; no user gets more than a share. */
export interface FairSlots {
  /**
   * Waits for a slot; waiting users take turns. Returns a function that frees the slot; undefined
   * if too many wait, time is up, or the signal fired.
   */
  take: (user: string, withinMs: number, signal?: AbortSignal) => Promise<(() => void) | undefined>;
}

export interface SlotLimits {
  total: number;
  perUser: number;
  /** Waiting requests of one user; further ones are refused. Default: `perUser`. */
  waiting?: number;
}

type Grant = () => void;

export function createFairSlots(options: SlotLimits): FairSlots {
  const { total, perUser, waiting: mostWait = perUser } = options;
  const busy = new Map<string, number>();
  /** Users in the order of their turns, each with its waiting requests. */
  const waiting = new Map<string, Set<Grant>>();
  let inUse = 0;

  const used = (user: string): number => busy.get(user) ?? 0;
  const mayTake = (user: string): boolean => inUse < total && used(user) < perUser;

  function occupy(user: string): () => void {
    inUse += 1;
    busy.set(user, used(user) + 1);
    return () => {
      inUse -= 1;
      const left = used(user) - 1;
      if (left === 0) busy.delete(user);
      else busy.set(user, left);
      serve();
    };
  }

  /** Gives free slots to the users whose turn it is; a served user goes to the end. */
  function serve(): void {
    for (let isServed = true; isServed && inUse < total;) {
      isServed = false;
      for (const [user, queue] of [...waiting]) {
        if (!mayTake(user)) continue;
        const [grant] = queue;
        if (grant === undefined) continue;
        waiting.delete(user);
        queue.delete(grant);
        if (queue.size > 0) waiting.set(user, queue);
        grant();
        isServed = true;
      }
    }
  }

  return {
    take: (user, withinMs, signal) => {
      if (signal?.aborted === true) return Promise.resolve(undefined);
      if (mayTake(user)) return Promise.resolve(occupy(user));
      if ((waiting.get(user)?.size ?? 0) >= mostWait) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const leave = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', giveUp);
        };
        const grant: Grant = () => {
          leave();
          resolve(occupy(user));
        };
        const giveUp = (): void => {
          leave();
          const queue = waiting.get(user);
          queue?.delete(grant);
          if (queue?.size === 0) waiting.delete(user);
          resolve(undefined);
        };
        const timer = setTimeout(giveUp, withinMs);
        signal?.addEventListener('abort', giveUp, { once: true });
        waiting.set(user, (waiting.get(user) ?? new Set()).add(grant));
      });
    },
  };
}
