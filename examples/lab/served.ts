/** API settings that decide whether the lab agent is served. */
export interface LabSettings {
  /** `LAB`; undefined if unset. */
  readonly setting: boolean | undefined;
  /** True if users sign in. */
  readonly hasAccounts: boolean;
  /** Address that the API listens on. */
  readonly host: string;
}

/**
 * Returns true if users may talk to the lab agent. It performs any script, however long that takes, so by
 * default only the single user of a machine may. Pure.
 */
export function isLabServed({ setting, hasAccounts, host }: LabSettings): boolean {
  return setting ?? (!hasAccounts && isLoopback(host));
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
