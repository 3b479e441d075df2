// The types of child-process.mjs, for the tests.

/** Returns the function that calls the watchdog off. */
export function watchOver(pid: number): () => void;
