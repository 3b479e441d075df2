/** What the settings of an API say about it. */
export interface LabSettings {
  /** What was said about the lab agent; undefined if nothing was. */
  readonly said: boolean | undefined;
  /** Whether users sign in. */
  readonly hasAccounts: boolean;
  /** Where the API listens. */
  readonly host: string;
}

/**
 * Whether the API lets the lab agent be addressed: it does what its messages say, for as long as they
 * say, so it is for the one user of a machine, and for others only where that was asked for. Pure.
 */
export function isLabServed({ said, hasAccounts, host }: LabSettings): boolean {
  return said ?? (!hasAccounts && isLoopback(host));
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
