/** Settings of an API that decide about the lab agent. */
export interface LabSettings {
  /** `LAB`; undefined if it is not set. */
  readonly setting: boolean | undefined;
  /** Whether users sign in. */
  readonly hasAccounts: boolean;
  /** Where the API listens. */
  readonly host: string;
}

/**
 * Whether users of the API may talk to the lab agent. It performs whatever its messages ask for, however long
 * that takes, so by default only the one user of a machine may. Pure.
 */
export function isLabServed({ setting, hasAccounts, host }: LabSettings): boolean {
  return setting ?? (!hasAccounts && isLoopback(host));
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
