/** Start-up ended with a sentence for the person who started the process; no stack trace helps them. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** A process gives its servers this long to answer. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 250;

/**
 * Waits until a server answers.
 *
 * @param what the server in words, with its address
 * @throws StartupError that names the server when it does not answer in time
 */
export async function untilReachable<T>(what: string, connect: () => Promise<T>): Promise<T> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await bounded(connect(), giveUpAt - Date.now());
    } catch {
      // Whatever the reason, the person can only look at the server.
      if (Date.now() + RETRY_MS >= giveUpAt) {
        throw new StartupError(`${what} cannot be reached.`);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

async function bounded<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error('too late'));
    }, ms);
  });
  return Promise.race([work, late]).finally(() => {
    clearTimeout(timer);
  });
}

/** A server's address without the user and password that its URL may carry. */
export function withoutSecrets(url: string): string {
  // Several hosts are no URL to the platform.
  if (!URL.canParse(url)) return url.replace(/^([a-z-]+:\/\/).*@/s, '$1');
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}

/** Ends the process with the parent that supervises it, however that parent went. */
export function endWithParent(proc: NodeJS.Process): void {
  if (proc.send === undefined) return;
  proc.on('disconnect', () => {
    proc.kill(proc.pid, 'SIGTERM');
  });
  // The channel alone must not keep a process that has done its work.
  proc.channel?.unref();
}

/** Runs a process's main function; says in one line why it could not start. */
export function startProcess(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    const expected =
      error instanceof Error &&
      ['StartupError', 'ConfigError', 'ModelConfigurationError'].includes(error.name);
    process.stderr.write(
      expected
        ? `${error.message}\n`
        : `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  });
}
