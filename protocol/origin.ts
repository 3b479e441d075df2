/** True for scheme, host and port, and nothing else, as browsers write them. */
export function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}
