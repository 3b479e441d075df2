import { Argument, Command } from 'commander';
import type { OperatorLease, OperatorWorker, OperatorWorkers } from '../../protocol/operator.js';
import type { Cli } from '../cli.js';
import { workOf, type GlobalOptions } from '../commands/options.js';
import { CliFailure, EXIT, type ExitCode } from '../failure.js';
import type { Kind } from '../output/output.js';
import { parsePort } from '../parse-values.js';

/** Interface of `scripts/start/own-agents.mjs`, which runs the same programs as `npm start`. */
interface Launcher {
  startDevelopment: (options: {
    file: string | undefined;
    command: readonly string[];
  }) => Promise<void>;
  /** Resolves to the exit code of the process. */
  startAlone: (role: 'api' | 'worker', options: { file: string | undefined }) => Promise<number>;
}

/** From dist/cli/local, in the package and in a clone alike. */
const LAUNCHER = new URL('../../../scripts/start/own-agents.mjs', import.meta.url).href;

async function loadLauncher(): Promise<Launcher> {
  return (await import(LAUNCHER)) as Launcher;
}

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
  columns: [
    { title: 'WORKER', show: ({ identity }) => identity },
    { title: 'TAKES', show: ({ takes }) => takes.join(', ') },
    { title: 'LAST POLL', show: ({ lastPollAt }, shown) => shown.time(lastPollAt) },
  ],
  none: 'No worker asks for work: runs wait until one does.',
};

const LEASES: Kind<OperatorLease> = {
  fields: ['id', 'state', 'attempts'],
  columns: [
    { title: 'LEASE', show: ({ id }) => id },
    {
      title: 'STATE',
      show: ({ state }) => state,
      style: ({ state }) => (state === 'held' ? 'green' : 'yellow'),
    },
    { title: 'ATTEMPTS', show: ({ attempts }) => attempts },
  ],
  none: 'No leases.',
};

/** `worker list`, a subcommand of `worker [file]`, which runs a worker. */
function createWorkerListCommand(cli: Cli): Command {
  return new Command('list')
    .summary('list the workers that are running')
    .description(
      'List the workers that ask Temporal for work. (worker ./list runs one with a file of that\nname.)',
    )
    .option('--leases', 'the leases that they hold in the store instead')
    .action(async (_, self: Command) => {
      const { options, api, output } = workOf<GlobalOptions & { leases?: boolean }>(cli, self);
      const { workers, leases = [] } = await api.get<OperatorWorkers>('/api/operator/workers');
      if (options.leases === true) await output.list(LEASES, leases);
      else await output.list(WORKERS, workers);
    });
}

interface DevOptions {
  port?: string;
  data?: string;
}

const FILE = 'file of your agents; default: AGENTS, else agents.ts';

/** `dev`: the whole product on this machine, with the user's agents. */
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

/** `api`: one API process in production. */
export function createApiCommand(cli: Cli): Command {
  return createRoleCommand(cli, 'api')
    .summary('run the API for your agents')
    .description(
      'Runs one process of the API with the agents of a file, by the settings in docs/deploying.md\n' +
        '(REDIS_URL, TEMPORAL_…, PORT, JWT_…).',
    );
}

/** `worker`: one worker in production; `worker list` lists the running ones. */
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

/** A code above 128 means that a second request to end killed the process. */
function toExitCode(code: number): ExitCode {
  if (code > 128) return EXIT.interrupted;
  return code === 0 ? EXIT.done : EXIT.failed;
}

/** From dist/cli/local, in the package and in a clone alike. */
const WRITER = new URL('../../../templates/write-app.mjs', import.meta.url).href;

/** `init`: creates a small app. */
export function createInitCommand({ terminal }: Cli): Command {
  return new Command('init')
    .summary('write a small app to begin with')
    .description(
      'Writes an app: an agent with a tool that a person approves, a page (Vite and React), tests, and files\n' +
        'for Docker. It runs without a model key. Nothing that is there already is changed.',
    )
    .addArgument(new Argument('[folder]', 'default: this one'))
    .action(async (folder: string | undefined) => {
      terminal.print((await inSentences(write(folder))) ?? '');
    });
}

async function write(folder: string | undefined): Promise<string> {
  const { writeApp } = (await import(WRITER)) as { writeApp: (folder?: string) => string };
  return writeApp(folder);
}
