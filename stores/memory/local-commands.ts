import { SINGLE, type Commands } from '../redis/commands.js';
import { orNull, type Keyspace, type Reply } from './keyspace.js';

type Arguments = (string | number)[];

/** Commands on an in-process keyspace, with replies in the form of a Redis client. */
export function createLocalCommands(keyspace: Keyspace): Commands {
  const call = (name: string, ...args: Arguments): unknown => {
    if (name === 'info') return '';
    // As Redis receives them: UTF-8, which cannot encode lone surrogates.
    const texts = args.map((each) => String(each).toWellFormed());
    const reply = keyspace.call(name.toUpperCase(), ...texts);
    return name === 'hgetall' ? toRecord(reply) : orNull(reply);
  };
  const single = SINGLE.map((name) => [name, async (...args: Arguments) => call(name, ...args)]);
  return {
    ...(Object.fromEntries(single) as Omit<Commands, 'together'>),
    // Nothing can run between them.
    together: async (...reads) => reads.map((read) => call(...read)),
  };
}

function toRecord(reply: Reply): Record<string, string> {
  const flat = reply as string[];
  const fields = flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]] as const] : []));
  return Object.fromEntries(fields) as Record<string, string>;
}
