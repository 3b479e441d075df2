// The types of ports.mjs, for the tests.

export function anyFreePort(host?: string): Promise<number>;
