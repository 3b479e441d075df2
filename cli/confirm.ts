import { EXIT } from './exit-codes.js';
import { CliFailure, wrongUsage } from './failure.js';
import type { Terminal } from './terminal.js';

/**
 * Asks before a change. Resolves for `yes`, given on the command line or at the terminal.
 *
 * @throws CliFailure for every other answer, and without a terminal to ask at
 */
export async function confirm(
  terminal: Terminal,
  question: string,
  { yes = false }: { yes?: boolean },
): Promise<void> {
  if (yes) return;
  if (!terminal.isInteractive) {
    throw wrongUsage(`${question} There is no terminal to ask on: give -y, or --dry-run to look.`);
  }
  if (!(await terminal.ask(question))) throw new CliFailure('Nothing was changed.', EXIT.failed);
}
