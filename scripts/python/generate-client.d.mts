// The types of generate-client.mjs, for the tests.

export function generatePythonClient(
  folder: string,
  options?: { env?: NodeJS.ProcessEnv },
): Promise<void>;
