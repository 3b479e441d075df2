/** A promise that is settled from outside. */
export interface Deferred {
  promise: Promise<void>;
  resolve: () => void;
}

export function deferred(): Deferred {
  const made: Partial<Deferred> = {};
  made.promise = new Promise<void>((resolve) => {
    made.resolve = resolve;
  });
  return made as Deferred;
}
