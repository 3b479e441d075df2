// The types of watchdog.mjs, for the tests.

/** Returns the function that calls the watchdog off. */
export function watchOver(pid: number): () => void;
