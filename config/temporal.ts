import { existsSync } from 'node:fs';
import {
  loadClientConfigProfile,
  toClientOptions,
  type ClientConnectConfig,
} from '@temporalio/envconfig';
import { ConfigError, withoutBlank } from './env.js';

/** Connection settings of Temporal. */
export interface TemporalSettings {
  address: string;
  namespace: string;
  /** Address, TLS, API key and headers; for `Connection.connect` and `NativeConnection.connect`. */
  connection: Pick<ClientConnectConfig['connectionOptions'], 'tls' | 'apiKey'> & {
    address: string;
    metadata?: Record<string, string>;
  };
}

/**
 * Reads the connection settings as the `temporal` command line does: profiles of its configuration
 * file, and `TEMPORAL_…` variables, which win. An address in the environment is complete: the file
 * is then read only if the environment names it or one of its profiles, so that no API key is sent
 * to another server than its own.
 *
 * @throws ConfigError in one line: an unreadable file, an unknown profile, half of a certificate
 */
export function readTemporal(env: Record<string, string | undefined>): TemporalSettings {
  const variables = withoutBlank(env);
  const isFileNamed =
    variables['TEMPORAL_PROFILE'] !== undefined || variables['TEMPORAL_CONFIG_FILE'] !== undefined;
  const isAddressed = variables['TEMPORAL_ADDRESS'] !== undefined;
  const file = variables['TEMPORAL_CONFIG_FILE'];
  try {
    // The package takes a file that does not exist for an empty one.
    if (file !== undefined && !existsSync(file)) throw new Error(`there is no file ${file}`);
    return toSettings(variables, isAddressed && !isFileNamed);
  } catch (error) {
    throw new ConfigError(
      `Bad configuration of Temporal: ${whose(error, variables)}${toLine(error)}`,
    );
  }
}

/** Returns the variable that names the unreadable file, as a prefix; empty if none does. */
function whose(error: unknown, variables: Record<string, string>): string {
  const path =
    typeof error === 'object' && error !== null && 'path' in error ? error.path : undefined;
  const [name] = Object.entries(variables).find(
    ([each, value]) => each.startsWith('TEMPORAL_') && value === path,
  ) ?? [undefined];
  return name === undefined ? '' : `${name}: `;
}

function toSettings(variables: Record<string, string>, disableFile: boolean): TemporalSettings {
  const profile = loadClientConfigProfile({
    profile: variables['TEMPORAL_PROFILE'],
    overrideEnvVars: variables,
    disableFile,
  });
  const { clientCert, clientKey } = profile.tls ?? {};
  if ((clientCert === undefined) !== (clientKey === undefined)) {
    throw new Error('a client certificate needs its key, and a key its certificate');
  }
  const { connectionOptions, namespace = 'default' } = toClientOptions(profile);
  const { address = '127.0.0.1:7233', tls, apiKey } = connectionOptions;
  const metadata = profile.grpcMeta;
  return { address, namespace, connection: { address, tls, apiKey, metadata } };
}

function toLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
