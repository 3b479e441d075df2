// The types of install-front.mjs, for the tests.

export function installFront(name: string, env?: NodeJS.ProcessEnv): Promise<string>;
