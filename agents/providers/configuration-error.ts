/** Environment of a model spec: keys and addresses of providers, by variable. */
export type ModelEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Thrown if the configured model cannot be created. `variable` is the one to set or correct;
 * `install` is the command that installs a missing package.
 */
export class ModelConfigurationError extends Error {
  override readonly name = 'ModelConfigurationError';
  readonly variable: string;
  readonly install: string | undefined;

  constructor(
    variable: string,
    message: string,
    options: ErrorOptions & { install?: string } = {},
  ) {
    super(message, options);
    this.variable = variable;
    this.install = options.install;
  }
}

/** @throws ModelConfigurationError if the variable is not set */
export function requireValue(env: ModelEnvironment, variable: string): string {
  const value = env[variable];
  if (!value) {
    throw new ModelConfigurationError(variable, `${variable} is not set; MODEL needs it.`);
  }
  return value;
}

/** @throws ModelConfigurationError if the variable is set and is no http(s) URL */
export function readUrl(env: ModelEnvironment, variable: string): string | undefined {
  const value = env[variable];
  if (!value) return undefined;
  const isHttp = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  if (isHttp) return value;
  throw new ModelConfigurationError(variable, `${variable} is not an http(s) URL: "${value}".`);
}
