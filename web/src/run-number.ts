/** Which run of its session a run is, from 1; what its id says. */
export function parseRunNumber(runId: string): string {
  return /:(\d+)-[^:]*$/.exec(runId)?.[1] ?? '';
}
