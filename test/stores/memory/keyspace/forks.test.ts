import fc from 'fast-check';
import { createKeyspace, type Keyspace } from '../../../../stores/memory/keyspace/keyspace.js';
import { RedisError } from '../../../../stores/memory/keyspace/reply.js';
import { commandsOf, groups } from './any-command.js';
import type { Command } from './real-redis.js';

/** One of several keyspaces, and everything that was done to it and to those it came from. */
interface Branch {
  keyspace: Keyspace;
  history: Command[];
}

function newKeyspace(): Keyspace {
  return createKeyspace({ now: () => 1_700_000_000_000 });
}

function run(keyspace: Keyspace, [name, ...args]: Command): void {
  try {
    keyspace.call(name, ...args);
  } catch (error) {
    if (!(error instanceof RedisError)) throw error;
  }
}

const Step = fc.record({
  branch: fc.nat(),
  forks: fc.boolean(),
  /** What was made of a value once is kept for the next time, and shared. */
  prints: fc.boolean(),
});

const Steps = fc
  .constantFrom(...groups)
  .chain(commandsOf)
  .chain((commands) => {
    const length = commands.length;
    return fc
      .array(Step, { minLength: length, maxLength: length })
      .map((steps) => steps.map((step, at) => ({ ...step, command: commands[at] ?? ['DBSIZE'] })));
  });

function replayed(history: readonly Command[]): Keyspace {
  const keyspace = newKeyspace();
  for (const command of history) run(keyspace, command);
  return keyspace;
}

describe('forks of a keyspace', () => {
  it('forks hold their own changes, and none of others', () => {
    fc.assert(
      fc.property(Steps, (steps) => {
        const branches: Branch[] = [{ keyspace: newKeyspace(), history: [] }];
        for (const { branch, forks, prints, command } of steps) {
          const chosen = branches[branch % branches.length];
          if (chosen === undefined) throw new Error('There is always a branch');
          const { keyspace, history } = chosen;
          if (prints) keyspace.fingerprint();
          if (forks) branches.push({ keyspace: keyspace.fork(), history: [...history] });
          run(keyspace, command);
          history.push(command);
        }
        for (const { keyspace, history } of branches) {
          const expected = replayed(history);
          expect(keyspace.dump()).toEqual(expected.dump());
          expect(keyspace.fingerprint()).toBe(expected.fingerprint());
        }
      }),
      { numRuns: 500 },
    );
  });
});
