// Of what Temporal refuses. No client of it is needed to read that.

/** gRPC: an invalid argument (3), or a request that the server does not know (12). Trying again does not help. */
export function isRefusedForGood(error: unknown): boolean {
  const code = codeOf(error);
  return code === 3 || code === 12;
}

/** The gRPC status of an error, or of what caused it. */
export function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === 'number' ? code : codeOf(error.cause);
}
