/** Does one work after the other for each key, whether they succeed or not. */
export type Queued = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

export function createQueues(): Queued {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    last.set(key, own);
    const done = (): void => {
      if (last.get(key) === own) last.delete(key);
    };
    own.then(done, done);
    return own;
  };
}
