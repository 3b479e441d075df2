import type { CommandEntry, CommandTable } from './command.js';
import { expiryCommands } from './expiry.js';
import { hashCommands } from './hashes.js';
import { keyCommands } from './keys.js';
import { listSearchCommands } from './list-search.js';
import { listCommands } from './lists.js';
import { RedisError, wrongArity } from './reply.js';
import { serverCommands } from './server.js';
import { setCommands } from './sets.js';
import { sortedSetCommands } from './sorted-sets.js';
import { streamTrimCommands } from './stream-trim.js';
import { streamCommands } from './streams.js';
import { stringCommands } from './strings.js';
import { cString } from './text.js';
import { zaddCommands } from './zadd.js';

export interface Command {
  /** In lower case, as errors name it. */
  name: string;
  run: CommandEntry['run'];
  fewestArgs: number;
  mostArgs: number;
}

export const commandTables: readonly CommandTable[] = [
  ...[stringCommands, hashCommands, listCommands, listSearchCommands, setCommands],
  ...[sortedSetCommands, zaddCommands, streamCommands, streamTrimCommands],
  ...[keyCommands, expiryCommands, serverCommands],
];

/** By name in upper and in lower case; other spellings are brought to one of them. */
const COMMANDS = new Map<string, Command>();
for (const table of commandTables) {
  for (const [upper, { arity, run }] of Object.entries(table)) {
    const name = upper.toLowerCase();
    const fewestArgs = Math.abs(arity) - 1;
    const mostArgs = arity < 0 ? Infinity : fewestArgs;
    const command = { name, run, fewestArgs, mostArgs };
    COMMANDS.set(upper, command).set(name, command);
  }
}

export function commandFor(name: string, args: readonly string[]): Command {
  const command =
    COMMANDS.get(name) ?? (isAscii(name) ? COMMANDS.get(name.toLowerCase()) : undefined);
  if (command === undefined) throw unknownCommand(name, args);
  if (args.length < command.fewestArgs || args.length > command.mostArgs) {
    throw wrongArity(command.name);
  }
  return command;
}

/** Other letters may have the same lower case as one of ASCII, and are no less wrong. */
function isAscii(name: string): boolean {
  for (let i = 0; i < name.length; i += 1) {
    if (name.charCodeAt(i) > 127) return false;
  }
  return true;
}

/** Redis repeats so much of a command that it does not know. */
const SHOWN = 128;

function unknownCommand(name: string, args: readonly string[]): RedisError {
  let shown = '';
  for (const arg of args) {
    if (shown.length >= SHOWN) break;
    shown += `'${cString(arg).slice(0, SHOWN - shown.length)}' `;
  }
  const text = `unknown command '${cString(name).slice(0, SHOWN)}', with args beginning with: ${shown}`;
  return new RedisError(`ERR ${text.replaceAll('\r', ' ').replaceAll('\n', ' ')}`);
}
