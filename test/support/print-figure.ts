/** Prints what a test has measured; it is not asserted, since other work shares the machine. */
export function printFigure(text: string): void {
  process.stdout.write(`${text}\n`);
}
