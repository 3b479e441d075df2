/** Returns the fault of a Node that is too old. @param range oldest supported version: `>=20.19` */
export function nodeFault(version: string, range: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const oldest = range.replace(/^>=/, '');
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `helix-temporal needs Node ${oldest} or newer; this is ${version}.`;
}
