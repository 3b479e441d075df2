// The types of client-versions.mjs, for the tests.

/** One pair of `ai` and `@ai-sdk/react`. */
interface ClientVersion {
  /** `ai 6.0.198`, for example. */
  readonly name: string;
  readonly ai: string;
  readonly react: string;
}

export interface InstalledClient extends ClientVersion {
  /** Module to import: `ai`, `aiReact`, `React`, `ReactDom`, `ReactDomClient` of that version. */
  readonly entry: string;
  readonly reason?: undefined;
}

export interface MissingClient extends ClientVersion {
  readonly entry?: undefined;
  /** Why it cannot be had. */
  readonly reason: string;
}

export function installClients(): Promise<(InstalledClient | MissingClient)[]>;
