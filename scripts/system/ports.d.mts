// The types of ports.mjs, for the tests.

export function anyFreePort(host?: string): Promise<number>;
/** Claims any free port, for servers that tests and measurements start side by side. */
export function claimAnyPort(host?: string): Promise<number>;
