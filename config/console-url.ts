/** Builds the operators' address of a run; undefined without a public address. */
export function consoleUrlOf(
  publicUrl: string | undefined,
): ((sessionId: string, runId: string) => string) | undefined {
  if (publicUrl === undefined) return undefined;
  return (_sessionId, runId) => `${publicUrl}/console/runs/${encodeURIComponent(runId)}`;
}
