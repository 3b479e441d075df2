/**
 * Builds the console address of a run, which need not be the operator's own conversation; undefined
 * without a public address.
 */
export function consoleUrlOf(
  publicUrl: string | undefined,
): ((sessionId: string, runId: string) => string) | undefined {
  if (publicUrl === undefined) return undefined;
  return (_sessionId, runId) => `${publicUrl}/console/runs/${encodeURIComponent(runId)}`;
}
