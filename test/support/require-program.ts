/** Returns the path of an engine or browser that `npm test` found before it started jest. */
export function requireProgram(
  variable: 'REDIS_SERVER_PATH' | 'TEMPORAL_CLI_PATH' | 'CHROMIUM_PATH',
): string {
  const path = process.env[variable];
  if (!path) throw new Error(`${variable} is not set: run the tests with npm test`);
  return path;
}
