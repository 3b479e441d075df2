/** Why something failed, in one line; the causes of errors carry what their messages leave out. Pure. */
export function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`.split('\n')[0]?.replace(/\.$/, '') ?? '';
}
