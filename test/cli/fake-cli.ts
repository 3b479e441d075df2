import type { ApiClient } from '../../cli/api/client.js';
import type { Cli } from '../../cli/cli.js';
import { EXIT } from '../../cli/failure.js';
import { createProgram } from '../../cli/program.js';

type Answer = (path: string, ...given: never[]) => Promise<unknown>;

/** Answers of the API, by method. */
export interface FakeApi {
  get?: Answer | undefined;
  post?: Answer | undefined;
  delete?: Answer | undefined;
  lines?: ((path: string, call?: object) => AsyncGenerator<string, void>) | undefined;
}

/** What a command has printed, and how it ended. */
export interface Ended {
  printed: string;
  noted: string[];
  exitCode: number;
}

interface Surroundings {
  /** True for a person at a terminal, who says yes. */
  isInteractive?: boolean;
  /** Gets the command's handler of Ctrl-C. */
  onInterrupts?: (stop?: () => void) => void;
}

/** Runs the command line against an API that gives these answers. */
export async function runCli(
  args: readonly string[],
  api: FakeApi,
  { isInteractive = false, onInterrupts }: Surroundings = {},
): Promise<Ended> {
  const printed: string[] = [];
  const noted: string[] = [];
  let exitCode: number = EXIT.done;
  const cli = {
    env: {},
    now: () => 0,
    connect: () => api as unknown as ApiClient,
    exitWith: (code: number) => (exitCode = code),
    takeInterrupts: (stop?: () => void) => onInterrupts?.(stop),
    terminal: {
      print: (text: string) => printed.push(text),
      note: (text: string) => noted.push(text),
      style: (_style: string, text: string) => text,
      isInteractive,
      ask: () => Promise.resolve(true),
    },
  } as unknown as Cli;
  await createProgram(cli, { version: '0' }).parseAsync([...args], { from: 'user' });
  return { printed: printed.join('\n'), noted, exitCode };
}

/** A request of a command: the method, the path, and the query or the body without absent members. */
export type Asked = [method: string, path: string, sent?: unknown];

/** Runs the command line against an API with these replies; also returns its requests. */
export async function runRecorded(
  args: readonly string[],
  replies: { get: object; post: object; delete: object },
): Promise<Ended & { asked: Asked[] }> {
  const asked: Asked[] = [];
  const note = (method: string, path: string, sent: object | undefined): void => {
    const { query = sent } = (sent ?? {}) as { query?: object };
    const plain = query && (JSON.parse(JSON.stringify(query)) as unknown);
    asked.push(plain === undefined ? [method, path] : [method, path, plain]);
  };
  const answer =
    (method: 'get' | 'post' | 'delete') =>
    (path: string, sent?: object): Promise<unknown> => {
      note(method, path, sent);
      return Promise.resolve(replies[method]);
    };
  const ended = await runCli(args, {
    get: answer('get'),
    post: answer('post'),
    delete: answer('delete'),
    lines: async function* (path, sent) {
      note('lines', path, sent);
      yield await Promise.resolve('{}');
    },
  });
  return { ...ended, asked };
}
