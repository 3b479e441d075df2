// The types of npm.mjs, for the tests.

/** A registry that was asked and gave nothing, because of the line to it or of itself. */
export class RegistryError extends Error {}

export function npm(args: readonly string[], options?: { cwd?: string }): Promise<string>;
