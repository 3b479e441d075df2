/** An argument as Redis gets it: what goes over a wire is UTF-8, which has no halves of characters. */
export function toWireText(argument: string | number): string {
  return String(argument).toWellFormed();
}
