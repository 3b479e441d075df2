import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import { requireInteger } from './integers.js';
import { RedisError, syntaxError, unsupported, type Reply } from './reply.js';
import { parseStrictId, type StreamId } from './stream-id.js';
import { placeOfId, type StreamEntry } from './stream.js';
import { isWord } from './text.js';

type Strategy = { maxLength: number } | { minId: StreamId };

function xtrim(db: Database, args: Args): Reply {
  const [key] = args;
  const strategy = parseStrategy(args);
  const stored = db.find(key, 'stream');
  if (stored === undefined) return 0;
  const count = countBefore(stored.content.entries, strategy);
  if (count > 0) db.own(key, stored).entries.splice(0, count);
  return count;
}

function countBefore(entries: readonly StreamEntry[], strategy: Strategy): number {
  if ('minId' in strategy) return placeOfId(entries, strategy.minId);
  return Math.max(0, entries.length - strategy.maxLength);
}

function parseStrategy(args: Args): Strategy {
  let strategy: Strategy | undefined;
  let limit: number | undefined;
  for (let i = 1; i < args.length; i += 2) {
    const option = args[i] ?? '';
    const isMaxLength = isWord(option, 'maxlen');
    if (args[i + 1] === undefined) throw syntaxError();
    if (isMaxLength || isWord(option, 'minid')) {
      if (strategy !== undefined) {
        throw new RedisError(
          'ERR syntax error, MAXLEN and MINID options at the same time are not compatible',
        );
      }
      i += modifiersAt(args, i + 1);
      const threshold = args[i + 1] ?? '';
      strategy = isMaxLength
        ? { maxLength: requireLength(threshold) }
        : { minId: parseStrictId(threshold) };
    } else if (isWord(option, 'limit')) limit = requireLimit(args[i + 1] ?? '');
    else throw syntaxError();
  }
  return requireExact(strategy, limit);
}

/** How many words say that the trimming is exact: it is anyway. */
function modifiersAt(args: Args, at: number): number {
  if (args[at + 1] === undefined) return 0;
  if (isWord(args[at] ?? '', '~')) throw unsupported('XTRIM with ~');
  return isWord(args[at] ?? '', '=') ? 1 : 0;
}

function requireExact(strategy: Strategy | undefined, limit: number | undefined): Strategy {
  if (strategy === undefined) {
    throw new RedisError(
      limit === undefined || limit === 0
        ? 'ERR syntax error, XTRIM must be called with a trimming strategy'
        : 'ERR syntax error, LIMIT cannot be used without specifying a trimming strategy',
    );
  }
  if (limit === undefined) return strategy;
  throw new RedisError('ERR syntax error, LIMIT cannot be used without the special ~ option');
}

function requireLength(text: string): number {
  const length = requireInteger(text);
  if (length < 0) throw new RedisError('ERR The MAXLEN argument must be >= 0.');
  return length;
}

function requireLimit(text: string): number {
  const limit = requireInteger(text);
  if (limit < 0) throw new RedisError('ERR The LIMIT argument must be >= 0.');
  return limit;
}

export const streamTrimCommands: CommandTable = { XTRIM: { arity: -4, run: xtrim } };
