import { Command } from 'commander';
import type { Cli } from '../../cli.js';
import { EXIT } from '../../exit-codes.js';
import { CliFailure } from '../../failure.js';
import { parseDuration } from '../../parse-values.js';
import { workOf, type GlobalOptions } from '../options.js';
import { RUNS } from './run-kinds.js';

export function createWatchCommand(cli: Cli): Command {
  return new Command('watch')
    .summary('wait until a run rests')
    .description(
      'Wait until a run has ended or waits for people. Exits with 0 if it completed, 1 if it\n' +
        'failed, 2 if it waits for people, 3 if it was stopped, 124 after the timeout.',
    )
    .argument('<run>', 'id of the run')
    .option('--timeout <duration>', 'wait at most so long', parseDuration)
    .action(async (runId: string, _, self: Command) => {
      const { options, api, output } = workOf<GlobalOptions & { timeout?: number }>(cli, self);
      const { restOf, watchStates } = await import('./follow.js');
      const { timeout } = options;
      const signal = timeout === undefined ? undefined : AbortSignal.timeout(timeout);
      try {
        for await (const run of watchStates(api, runId, signal)) {
          const exitCode = restOf(run.status);
          if (exitCode === undefined) {
            cli.terminal.note(`${run.runId} is ${run.status}.`);
            continue;
          }
          await output.one(RUNS, run);
          cli.exitWith(exitCode);
          return;
        }
      } catch (error) {
        if (signal?.aborted !== true) throw error;
      }
      throw new CliFailure(`${runId} has not ended yet.`, EXIT.timeout);
    });
}
