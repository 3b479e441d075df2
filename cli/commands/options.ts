import { Option, type Command } from 'commander';
import type { Cli } from '../cli.js';
import { createOutput, type Output, type OutputOptions } from '../output/output.js';
import { parseCount, parseText } from '../parse-values.js';
import type { ApiClient } from '../api/client.js';

const DEFAULT_LIMIT = 50;

/** Options of every command. */
export interface GlobalOptions extends OutputOptions {
  url?: string;
  tenant?: string;
  idempotencyKey?: string;
}

export interface ListOptions extends GlobalOptions {
  limit: number;
}

export interface ReasonOption {
  reason?: string;
}

export interface ConsentOptions {
  yes?: boolean;
}

export function limitOption(): Option {
  return new Option('--limit <n>', 'most items').argParser(parseCount).default(DEFAULT_LIMIT);
}

export function reasonOption(): Option {
  return new Option('--reason <text>', 'why, for the record').argParser(parseText);
}

export function yesOption(): Option {
  return new Option('-y, --yes', 'do not ask');
}

/** A command's options with the client and output made from them. */
export interface Work<O> {
  options: O;
  api: ApiClient;
  output: Output;
}

/** Builds an action's work; commander passes the command last. */
export function workOf<O extends GlobalOptions>(cli: Cli, command: Command): Work<O> {
  const options = command.optsWithGlobals<O>();
  return { options, api: cli.connect(options), output: createOutput(cli, options) };
}

/** Notes that a list has more items than were printed. */
export function noteMore(cli: Cli, limit: number): () => void {
  return () => {
    cli.terminal.note(`These are the first ${String(limit)}; --limit shows more.`);
  };
}
