/** True for scheme, host and port only, in the form that browsers use. */
export function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}
