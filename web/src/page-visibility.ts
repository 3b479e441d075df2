/** Waits `ms`, then until somebody looks at the page. Coming back, or back online, ends the wait. */
export async function pauseWhileHidden(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      window.removeEventListener('online', finish);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    window.addEventListener('online', finish);
    signal.addEventListener('abort', finish);
  });
  if (signal.aborted || document.visibilityState === 'visible') return;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      if (!signal.aborted && document.visibilityState !== 'visible') return;
      document.removeEventListener('visibilitychange', finish);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    document.addEventListener('visibilitychange', finish);
    signal.addEventListener('abort', finish);
  });
}

/** Calls back each time the page is looked at again. Returns how to end that. */
export function whenVisible(callback: () => void): () => void {
  const look = (): void => {
    if (document.visibilityState === 'visible') callback();
  };
  document.addEventListener('visibilitychange', look);
  return () => {
    document.removeEventListener('visibilitychange', look);
  };
}
