import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { ReadStream, WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { CliFailure, EXIT, wrongUsage } from './failure.js';

type Style = Parameters<typeof styleText>[0];

/** A command's streams. Results go to stdout, everything else to stderr. */
export interface Terminal {
  print: (text: string) => void;
  /** Writes a line about the work: progress, hints, questions. */
  note: (text: string) => void;
  style: (style: Style, text: string) => string;
  /** True if a person can be asked. */
  isInteractive: boolean;
  /** @returns true for yes */
  ask: (question: string) => Promise<boolean>;
  readAll: () => Promise<string>;
}

export interface Streams {
  stdin: ReadStream;
  stdout: WriteStream;
  stderr: WriteStream;
}

/** @param env for `NO_COLOR` and `TERM` */
export function createTerminal(
  { stdin, stdout, stderr }: Streams,
  env: Record<string, string | undefined>,
): Terminal {
  // isTTY is undefined for pipes and files.
  const isTerminal = (stream: { isTTY?: boolean }): boolean => stream.isTTY === true;
  const hasColor = isTerminal(stdout) && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return {
    print: (text) => {
      stdout.write(`${text}\n`);
    },
    note: (text) => {
      stderr.write(`${text}\n`);
    },
    style: (style, text) => (hasColor ? styleText(style, text, { validateStream: false }) : text),
    isInteractive: isTerminal(stdin) && isTerminal(stderr),
    ask: async (question) => {
      const lines = createInterface({ input: stdin, output: stderr });
      // The readline interface intercepts Ctrl-C and never answers after Ctrl-D.
      lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      const ended = once(lines, 'close').then(() => '');
      try {
        const answer = await Promise.race([lines.question(`${question} [y/N] `), ended]);
        return /^y(es)?$/i.test(answer.trim());
      } finally {
        lines.close();
      }
    },
    readAll: async () => {
      const parts: Buffer[] = [];
      for await (const part of stdin) parts.push(part as Buffer);
      return Buffer.concat(parts).toString();
    },
  };
}

/** Asks for confirmation; `--yes` also confirms. @throws CliFailure otherwise, and without a terminal */
export async function confirm(
  terminal: Terminal,
  question: string,
  { yes = false }: { yes?: boolean },
  advice = 'give -y',
): Promise<void> {
  if (yes) return;
  if (!terminal.isInteractive) {
    throw wrongUsage(`${question} There is no terminal to ask on: ${advice}.`);
  }
  if (!(await terminal.ask(question))) throw new CliFailure('Nothing was changed.', EXIT.failed);
}
