import type { OperatorLease, OperatorWorker, OperatorWorkers } from '../../protocol/operator.js';
import { CliFailure, EXIT, type ExitCode } from '../failure.js';
import type { Kind } from '../output/output.js';
import { parsePort } from '../parse-values.js';
import type { ApiCommand, Work } from './api-command.js';

/** Interface of `scripts/start/own-agents.mjs`, which runs the same programs as `npm start`. */
interface Launcher {
  startDevelopment: (options: {
    file: string | undefined;
    command: readonly string[];
  }) => Promise<void>;
  startAlone: (role: 'api' | 'worker', options: { file: string | undefined }) => Promise<number>;
}

/** The path starts in dist/cli/commands, in the package and in a clone alike. */
const LAUNCHER = new URL('../../../scripts/start/own-agents.mjs', import.meta.url).href;
const WRITER = new URL('../../../templates/write-app.mjs', import.meta.url).href;

/** Rethrows failures that the user can fix as sentences with an exit code. */
async function inSentences<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // The user stopped it during the start.
    if (error.name === 'AbortError') return undefined;
    if (error.name === 'UsageError') throw new CliFailure(error.message, EXIT.usage);
    if (error.name === 'UserError') throw new CliFailure(error.message, EXIT.unavailable);
    throw error;
  }
}

const WORKERS: Kind<OperatorWorker> = {
  fields: ['identity', 'takes', 'lastPollAt'],
  columns: {
    WORKER: ({ identity }) => identity,
    TAKES: ({ takes }) => takes.join(', '),
    'LAST POLL': ({ lastPollAt }, shown) => shown.time(lastPollAt),
  },
  none: 'No worker asks for work: runs wait until one does.',
};

const LEASES: Kind<OperatorLease> = {
  fields: ['id', 'state', 'attempts'],
  columns: {
    LEASE: ({ id }) => id,
    STATE: ({ state }) => state,
    ATTEMPTS: ({ attempts }) => attempts,
  },
  styles: { STATE: ({ state }) => (state === 'held' ? 'green' : 'yellow') },
  none: 'No leases.',
};

const FILE = ['[file]', 'file of your agents; default: AGENTS, else agents.ts'] as const;

/** The commands that run the product, and `init`, which writes an app. */
export function addLocalCommands(program: ApiCommand): void {
  const { cli } = program;
  program
    .command('init')
    .summary('write a small app to begin with')
    .description(
      'Writes an app: an agent with a tool that a person approves, a page (Vite and React), tests, and files\n' +
        'for Docker. It runs without a model key. Nothing that is there already is changed.',
    )
    .argument('[folder]', 'default: this one')
    .action(async (folder: string | undefined) => {
      const written = inSentences(
        import(WRITER).then(({ writeApp }: { writeApp: (folder?: string) => string }) =>
          writeApp(folder),
        ),
      );
      cli.terminal.print((await written) ?? '');
    });
  program
    .command('dev')
    .summary('run your agents on this machine')
    .description(
      'Runs Temporal, Redis, a worker, the API and the chat page with the agents of a file, and takes over\n' +
        'changes of it without losing runs. It needs no model key; MODEL=<provider>:<id> names a model. What\n' +
        'is set in .env counts. A command behind -- runs beside it, with the address in HELIX_URL.',
    )
    .argument(...FILE)
    .argument('[command...]', 'a program to run beside it, behind --')
    .option(
      '--port <n>',
      'port of API and page; default: PORT, else 3000 or the next free one',
      parsePort,
    )
    .option('--data <folder>', 'where conversations are kept; default: DATA_DIR, else .helix')
    .action(
      async (
        file: string | undefined,
        command: string[],
        { port, data }: { port?: number; data?: string },
      ) => {
        cli.takeInterrupts();
        if (port !== undefined) cli.env['PORT'] = String(port);
        if (data !== undefined) cli.env['DATA_DIR'] = data;
        const { startDevelopment } = (await import(LAUNCHER)) as Launcher;
        await inSentences(startDevelopment({ file, command }));
      },
    );
  addRole(program, 'api')
    .summary('run the API for your agents')
    .description(
      'Runs one process of the API with the agents of a file, by the settings in docs/deploying.md\n' +
        '(REDIS_URL, TEMPORAL_…, PORT, JWT_…).',
    );
  addRole(program, 'worker')
    .summary('run a worker for your agents')
    .description(
      'Runs one worker with the agents of a file, by the settings in docs/deploying.md (REDIS_URL,\n' +
        'TEMPORAL_…, TASK_QUEUE, MODEL and the keys of your models).',
    )
    .command('list')
    .summary('list the workers that are running')
    .description(
      'List the workers that ask Temporal for work. (worker ./list runs one with a file of that\nname.)',
    )
    .option('--leases', 'the leases that they hold in the store instead')
    .act(async ({ options, api, output }: Work<{ leases?: boolean }>) => {
      const { workers, leases = [] } = await api.get<OperatorWorkers>('/api/operator/workers');
      if (options.leases === true) await output.list(LEASES, leases);
      else await output.list(WORKERS, workers);
    });
}

/** `api` and `worker`: one process in production. */
function addRole(program: ApiCommand, role: 'api' | 'worker'): ApiCommand {
  const { cli } = program;
  return program
    .command(role)
    .argument(...FILE)
    .action(async (file: string | undefined) => {
      cli.takeInterrupts();
      const { startAlone } = (await import(LAUNCHER)) as Launcher;
      cli.exitWith(toExitCode((await inSentences(startAlone(role, { file }))) ?? 0));
    });
}

/** A code above 128 means that a second request to end killed the process. */
function toExitCode(code: number): ExitCode {
  if (code > 128) return EXIT.interrupted;
  return code === 0 ? EXIT.done : EXIT.failed;
}
