/** Prints a measured figure. Tests do not assert it, since other work shares the machine. */
export function printFigure(text: string): void {
  process.stdout.write(`${text}\n`);
}
