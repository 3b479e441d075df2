export function installWithApt(packages: readonly string[]): Promise<void>;
