import { sleep, withTimeout } from '../protocol/time.js';
import { TIMES } from '../protocol/limits.js';

/** Start-up failed; the message tells the person who started the process why. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

const RETRY_MS = 250;

/**
 * Waits until a server answers.
 *
 * @param what the server in words, with its address
 * @param explain gives the reason in a sentence, if it can be found out in that time
 * @param withinMs time limit
 * @throws StartupError that names the server if it does not answer in time
 */
export async function untilReachable<T>(
  what: string,
  connect: () => Promise<T>,
  explain?: (withinMs: number) => Promise<string | undefined>,
  withinMs = TIMES.serverMs,
): Promise<T> {
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    try {
      return await withTimeout(giveUpAt - Date.now(), connect());
    } catch {
      // The cause is in the server, so the message names only the server.
      if (Date.now() + RETRY_MS >= giveUpAt) {
        throw new StartupError((await explain?.(withinMs / 2)) ?? `${what} cannot be reached.`);
      }
      await sleep(RETRY_MS);
    }
  }
}

/** The address of a server without the user and password that its URL may contain. */
export function withoutSecrets(url: string): string {
  // A list of hosts is not a URL for the platform.
  if (!URL.canParse(url)) {
    return url
      .replace(/\?(?:ca|cert|key|sentinel\w+)=.*/s, '')
      .replace(/^([a-z-]+:\/\/).*@/s, '$1');
  }
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  shown.search = '';
  return shown.href;
}

/** Ends the process when the parent that supervises it is gone, for whatever reason. */
export function endWithParent(proc: NodeJS.Process): void {
  if (proc.send === undefined) return;
  proc.on('disconnect', () => {
    proc.kill(proc.pid, 'SIGTERM');
  });
  // The channel alone must not keep alive a process that has finished.
  proc.channel?.unref();
}

/** systemd, for one, signals a process and also its supervisor, which passes the signal on. */
const SAME_REQUEST_MS = 1_000;

/** Ends the process at once on a further SIGTERM or SIGINT, unless it is the same request again. */
export function endOnRepeat(proc: Pick<NodeJS.Process, 'on' | 'exit'>): void {
  let askedAt: number | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'])
    proc.on(signal, () => {
      askedAt ??= performance.now();
      if (performance.now() - askedAt > SAME_REQUEST_MS) proc.exit(1);
    });
}

/**
 * Calls `close` and ends the process on a signal or an unexpected failure; ends it at once on a
 * further SIGTERM or SIGINT, or if closing takes longer than `withinMs`.
 */
export function closeOnSignal(
  proc: NodeJS.Process,
  withinMs: number,
  close: (error?: unknown) => Promise<void>,
): void {
  let isClosing = false;
  const end = (error?: unknown): void => {
    if (isClosing) return;
    isClosing = true;
    setTimeout(() => proc.exit(1), withinMs).unref();
    close(error).then(
      () => proc.exit(error === undefined ? 0 : 1),
      () => proc.exit(1),
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
    proc.on(signal, () => {
      end();
    });
  endOnRepeat(proc);
  for (const fault of ['uncaughtException', 'unhandledRejection']) {
    proc.on(fault, (error: unknown) => {
      if (isClosing) proc.exit(1);
      end(error ?? new Error(fault));
    });
  }
}

/** Names of errors whose message tells the person who starts the process what to do. */
const EXPECTED = [
  'StartupError',
  'ConfigError',
  'MissingPackageError',
  'ModelConfigurationError',
  'AgentsFileError',
  'HelixError',
];

/** Runs the main function of a process. If it fails, prints the reason and exits with 1. */
export function startProcess(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    const expected = error instanceof Error && EXPECTED.includes(error.name);
    process.stderr.write(
      expected
        ? `${error.message}\n`
        : `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  });
}

/** Returns true for an address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}
