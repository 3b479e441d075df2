import { Argument, Command } from 'commander';
import type { Cli } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { createWorkerListCommand } from '../commands/worker-list.js';
import { parsePort } from '../parse-values.js';
import { inSentences, loadLauncher } from './launcher.js';

interface DevOptions {
  port?: string;
  data?: string;
}

const FILE = 'file of your agents; default: AGENTS, else agents.ts';

/** `dev`: everything on this machine, with a person's own agents. */
export function createDevCommand(cli: Cli): Command {
  return new Command('dev')
    .summary('run your agents on this machine')
    .description(
      'Runs Temporal, Redis, a worker, the API and the chat page with the agents of a file, and takes over\n' +
        'changes of it without losing runs. It needs no model key; MODEL=<provider>:<id> names a model. What\n' +
        'is set in .env counts. A command behind -- runs beside it, with the address in HELIX_URL.',
    )
    .addArgument(new Argument('[file]', FILE))
    .addArgument(new Argument('[command...]', 'a program to run beside it, behind --'))
    .option(
      '--port <n>',
      'port of API and page; default: PORT, else 3000 or the next free one',
      parsePort,
    )
    .option('--data <folder>', 'where conversations are kept; default: DATA_DIR, else .helix')
    .action(async (file: string | undefined, command: string[], { port, data }: DevOptions) => {
      cli.takeInterrupts();
      if (port !== undefined) cli.env['PORT'] = port;
      if (data !== undefined) cli.env['DATA_DIR'] = data;
      const { startDevelopment } = await loadLauncher();
      await inSentences(startDevelopment({ file, command }));
    });
}

/** `api`: one process of the API in production. */
export function createApiCommand(cli: Cli): Command {
  return createRoleCommand(cli, 'api')
    .summary('run the API for your agents')
    .description(
      'Runs one process of the API with the agents of a file, by the settings in docs/deploying.md\n' +
        '(REDIS_URL, TEMPORAL_…, PORT, JWT_…).',
    );
}

/** `worker`: one worker in production; `worker list` those that are running. */
export function createWorkerCommand(cli: Cli): Command {
  return createRoleCommand(cli, 'worker')
    .summary('run a worker for your agents')
    .description(
      'Runs one worker with the agents of a file, by the settings in docs/deploying.md (REDIS_URL,\n' +
        'TEMPORAL_…, TASK_QUEUE, MODEL and the keys of your models).',
    )
    .addCommand(createWorkerListCommand(cli));
}

function createRoleCommand(cli: Cli, role: 'api' | 'worker'): Command {
  return new Command(role)
    .addArgument(new Argument('[file]', FILE))
    .action(async (file: string | undefined) => {
      cli.takeInterrupts();
      const { startAlone } = await loadLauncher();
      const code = await inSentences(startAlone(role, { file }));
      cli.exitWith(toExitCode(code ?? 0));
    });
}

/** Above 128 it was killed, because it was asked to end again. */
function toExitCode(code: number): ExitCode {
  if (code > 128) return EXIT.interrupted;
  return code === 0 ? EXIT.done : EXIT.failed;
}
