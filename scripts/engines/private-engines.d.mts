// The types of private-engines.mjs, for the tests.

interface PrivateEngine {
  readonly pid: number | undefined;
  readonly port: number;
  readonly folder: string;
  /** Orderly end; the data stays, and `restart` continues with it. */
  stop: () => Promise<void>;
  kill9: () => Promise<void>;
  /** Stops it if it runs, starts it on the same port and data, resolves when it answers. */
  restart: () => Promise<void>;
  /** Stops it and removes its folder, unless that was given. */
  close: () => Promise<void>;
}

export interface PrivateRedis extends PrivateEngine {
  readonly url: string;
}

export interface PrivateTemporal extends PrivateEngine {
  readonly address: string;
}

interface PrivateEngineOptions {
  file: string;
  folder?: string | undefined;
  port?: number | undefined;
}

export function startPrivateRedis(
  options: PrivateEngineOptions & { appendfsync?: 'no' },
): Promise<PrivateRedis>;

export function startPrivateTemporal(
  options: PrivateEngineOptions & {
    namespace?: string | undefined;
    dynamicConfig?: Record<string, unknown> | undefined;
    isKept?: boolean | undefined;
  },
): Promise<PrivateTemporal>;

export function startPrivate(
  name: string,
  where: { folder?: string | undefined; port?: number | undefined },
  describe: (where: { port: number; folder: string }) => {
    file: string;
    args: string[];
    isReady: () => Promise<boolean>;
  },
): Promise<PrivateEngine>;
