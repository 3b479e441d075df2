import { randomUUID } from 'node:crypto';
import type { Entry, Read, Want, Write } from '../../session/fields.js';
import { HelixError } from '../../protocol/errors.js';
import type { Backend, Commit } from '../change.js';
import { fieldsOf, jsonOf, writerOf, type StreamEntry } from './entries.js';
import type { Atomic } from './atomic.js';
import type { KeySpace } from './keys.js';
import type { Check, Write as Command } from './write-if.js';

const EARLIER = 'This conversation was made by an earlier build and cannot be read.';

export interface BackendOptions extends Pick<Atomic, 'load' | 'writeIf'> {
  keys: Pick<KeySpace, 'prefix' | 'channels'>;
  keep: Backend['keep'];
}

export function createBackend({ load, writeIf, keys: space, keep }: BackendOptions): Backend {
  return {
    keep,
    load: async (conversationId, reads, isLarge) => {
      const keys = keysOf(space, conversationId);
      const { commands, pick } = toReads(keys, reads);
      const versioned = [keys('', 'record'), keys('', 'files')];
      const loaded = await load(versioned, commands, isLarge);
      const [[version, sequence, logBytes, foreign], changes, [seconds, micros], replies] =
        loaded as [...[(string | null)[], string | null, [string, string], unknown[]]];
      if (foreign != null) throw new HelixError('corrupt_record', EARLIER);
      return {
        version: `${version ?? ''} ${sequence ?? ''} ${changes ?? ''}`,
        recordVersion: `${version ?? ''} ${changes ?? ''}`,
        sequence: toNumber(sequence),
        logBytes: toNumber(logBytes),
        now: Number(seconds) * 1000 + Math.floor(Number(micros) / 1000),
        replies: pick(replies),
      };
    },
    commit: async (conversationId, version, commit) => {
      const keys = keysOf(space, conversationId);
      const [root, files] = [keys('', 'record'), keys('', 'files')];
      const [before = '', sequence = '', changes = ''] = version.split(' ');
      const next = randomUUID();
      const log = commit.sequence === undefined ? [] : ['seq', commit.sequence];
      const checks: Check[] = [
        [before, 'HGET', root, 'v'],
        ...(commit.mayGrow ? [] : [[sequence, 'HGET', root, 'seq'] as const]),
        [changes, 'HGET', files, 'changes'],
      ];
      const writes = toCommands(keys, commit.writes);
      if (leavesRecord(commit, before !== '')) {
        writes.push(['HSET', root, 'v', next, ...log]);
        if (commit.bytes !== 0) writes.push(['HINCRBY', root, 'logBytes', commit.bytes]);
      }
      const { isFreeing } = commit;
      try {
        return (await writeIf(checks, writes, { isFreeing, done: next })) ? 'stored' : 'stale';
      } catch (error) {
        if (error instanceof Error && error.message.includes(ID_EXISTS)) return 'behind';
        throw error;
      }
    },
  };
}

/** Part of the message with which Redis refuses an entry whose id is not above all others. */
const ID_EXISTS = 'equal or smaller';

/** Parses a stored whole number; 0 if absent. @throws SyntaxError if another program wrote something else */
function toNumber(text: string | null | undefined): number {
  const number = Number(text ?? 0);
  if (!Number.isSafeInteger(number)) throw new SyntaxError('this is no number');
  return number;
}

function leavesRecord({ writes }: Commit, wasThere: boolean): boolean {
  const of = writes.filter(
    (write) =>
      (write[0] === 'set' || write[0] === 'drop') && write[1] === 'record' && write[2] === '',
  );
  const last = of.at(-1);
  return last === undefined ? wasThere : last[0] === 'set';
}

type Keys = (part: string, name: string) => string;

/** Key names that differ from the names of places. */
const NAMES: Partial<Record<string, string>> = {
  record: 'root',
  log: 'stream',
  pages: 'joined',
  outbox: 'audit',
  erasures: 'gone',
};

function keysOf({ prefix, channels }: BackendOptions['keys'], conversationId: string): Keys {
  const base = `${prefix}:{${conversationId}}:`;
  const names: Partial<Record<string, string>> = { ...NAMES, ...channels };
  return (part, name) => {
    const key = names[name] ?? name;
    return part === '' ? base + key : `${base}${part}:${key}`;
  };
}

/** Takes what a read has asked for from all replies. */
type Take = (replies: readonly unknown[]) => unknown;

/** Returns the commands for reads; fields of one hash are read together. */
function toReads(keys: Keys, reads: readonly Want[]) {
  const commands: string[][] = [];
  const hashes = new Map<string, number>();
  const send = (command: string[], convert = (reply: unknown): unknown => reply): Take => {
    const at = commands.push(command) - 1;
    return (replies) => convert(replies[at]);
  };
  const readField = (key: string, name: string): Take => {
    let at = hashes.get(key);
    if (at === undefined || (commands[at]?.length ?? 0) > MAX_WORDS) {
      at = commands.push(['HMGET', key]) - 1;
      hashes.set(key, at);
    }
    const of = at;
    const field = (commands[at]?.push(name) ?? 0) - 3;
    return (replies) => (replies[of] as unknown[])[field];
  };
  const picks = reads.map((read): Take => {
    switch (read[0]) {
      case 'field':
        return readField(keys(read[2], read[1]), read[3]);
      case 'fields':
        return send(['HGETALL', keys(read[2], read[1])]);
      case 'rowCount':
        return send(['LLEN', keys(read[1], 'rows')]);
      case 'rows':
        return send(['LRANGE', keys(read[1], 'rows'), String(read[2]), String(read[3])]);
      case 'entries': {
        const [, after, upTo, max] = read;
        const last = Number.isFinite(upTo) ? idOf(upTo) : '+';
        const count = Number.isFinite(max) ? ['COUNT', String(max)] : [];
        const command = ['XRANGE', keys('', 'log'), `(${idOf(after)}`, last, ...count];
        return send(command, (reply) => (reply as StreamEntry[]).map(toEntry));
      }
      case 'entryCount':
        return send(['XLEN', keys('', 'log')]);
      case 'calls': {
        const [, part, ...contents] = read;
        const hashesOf = [keys(part, 'record'), keys(part, 'content')];
        const command = ['CALLS', MAX_CALLS, ...hashesOf, ...contents];
        return send(command, (reply) => toCalls(part, contents, reply as CallsReply | null));
      }
      case 'newRows': {
        const [, part, from, max] = read;
        const command = ['ROWS', String(max), keys(part, 'rows'), String(from)];
        return send(command, (reply) => toNewRows(part, from, reply as NewRowsReply | null));
      }
      case 'state': {
        const [, part] = read;
        return send(['STATE', keys(part, 'record'), keys(part, 'content')], (reply) => {
          const [name, text] = (reply ?? []) as [name?: string, text?: string | null];
          return name === undefined ? [] : [[['field', 'content', part, name], text]];
        });
      }
    }
  });
  return { commands, pick: (replies: readonly unknown[]) => picks.map((pick) => pick(replies)) };
}

/** Above this number of calls, only requested ones are read. */
const MAX_CALLS = '16';

type CallsReply = [order: string | null, ...fields: (string | null)[][]];

function toCalls(part: string, contents: readonly string[], reply: CallsReply | null) {
  if (reply === null) return [];
  const [order, calls, ...texts] = reply;
  const found: [Read, unknown][] = [[['field', 'record', part, 'order'], order]];
  if (order === null || calls === undefined) return found;
  (JSON.parse(order) as string[]).forEach((id, at) => {
    found.push([['field', 'record', part, `call:${id}`], calls[at]]);
    contents.forEach((what, n) => {
      found.push([['field', 'content', part, `${what}:${id}`], texts[n]?.[at]]);
    });
  });
  return found;
}

type NewRowsReply = [count: number, rows?: string[]];

function toNewRows(part: string, from: number, reply: NewRowsReply | null): [Read, unknown][] {
  if (reply === null) return [];
  const [count, rows] = reply;
  const counted: [Read, unknown] = [['rowCount', part], count];
  return rows === undefined ? [counted] : [counted, [['rows', part, from, count - 1], rows]];
}

function toEntry([id, fields]: StreamEntry): Entry {
  return [Number.parseInt(id, 10), writerOf(fields), jsonOf(fields)];
}

/** Returns the commands of writes, with the publication of their entries. */
export function toCommands(keys: Keys, writes: readonly Write[]): Command[] {
  const added = writes.filter((write) => write[0] === 'add');
  const commands = writes.flatMap((write) => toWrites(keys, write));
  const [first] = added;
  if (first === undefined) return commands;
  const entries = added.map(
    ([, sequence, writer, message]) => `[${String(sequence)},${JSON.stringify(writer)},${message}]`,
  );
  return [
    ...commands,
    ['SPUBLISH', keys('', 'channel'), `[${String(first[1] - 1)},[${entries.join(',')}]]`],
  ];
}

/** Maximum number of words of one command, which a script takes from its stack. Even, for fields with their values. */
const MAX_WORDS = 1_000;

function inParts(command: string, key: string, words: readonly string[]): Command[] {
  const parts: Command[] = [];
  for (let at = 0; at < words.length; at += MAX_WORDS)
    parts.push([command, key, ...words.slice(at, at + MAX_WORDS)]);
  return parts;
}

const KEPT = ['record', 'writers', 'index', 'content', 'runs', 'children', 'rows'];
const FILES = ['files', 'fileBytes'];

function toWrites(keys: Keys, write: Write): Command[] {
  switch (write[0]) {
    case 'set':
      return inParts('HSET', keys(write[2], write[1]), write.slice(3));
    case 'unset':
      return inParts('HDEL', keys(write[2], write[1]), write.slice(3));
    case 'drop':
      return [['UNLINK', keys(write[2], write[1])]];
    case 'push':
      return inParts('RPUSH', keys(write[2], write[1]), write.slice(3));
    case 'trim': {
      const [key, last] = [keys(write[1], 'rows'), write[2] - 1];
      return [last < 0 ? ['UNLINK', key] : ['LTRIM', key, '0', String(last)]];
    }
    case 'add': {
      const [, sequence, writer, message] = write;
      return [['XADD', keys('', 'log'), idOf(sequence), ...fieldsOf(writer, message)]];
    }
    case 'remove': {
      const [, ...sequences] = write;
      return inParts('XDEL', keys('', 'log'), sequences.map(idOf));
    }
    case 'trimLog':
      return [['XTRIM', keys('', 'log'), 'MINID', idOf(write[1])]];
    case 'page': {
      const [, from, upTo, entries] = write;
      return [['XADD', keys('', 'pages'), idOf(upTo), 'from', String(from), 'entries', entries]];
    }
    case 'stop':
      return [['SPUBLISH', keys('', 'stop'), write[1]]];
    case 'expire': {
      const [, what, part, ms] = write;
      return namesOf(what, part).map((name): Command => {
        const key = keys(part, name);
        return ms === undefined ? ['PERSIST', key] : ['PEXPIRE', key, String(ms)];
      });
    }
  }
}

function idOf(sequence: number): string {
  return `${String(sequence)}-0`;
}

function namesOf(what: 'session' | 'log' | 'files', part: string): readonly string[] {
  if (what !== 'session') return what === 'log' ? ['log'] : FILES;
  return part === '' ? [...KEPT, 'results', ...FILES] : KEPT;
}
