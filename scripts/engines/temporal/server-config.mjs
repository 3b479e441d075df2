// The configuration that all roles of a Temporal server share.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { POSTGRES_USER } from '../postgres.mjs';
import { DYNAMIC_CONFIG_FILE } from '../temporal-server.mjs';

/** Names of the databases, by the part of the schema. */
export const DATABASES = { temporal: 'temporal', visibility: 'temporal_visibility' };

/**
 * Writes it as JSON, which is YAML.
 *
 * @param ports gRPC and membership port of each role
 * @param announced the address under which the roles find each other
 * @param postgres host and port
 * @returns the file
 */
export function writeServerConfig({ folder, ports, announced, postgres }) {
  const database = (databaseName, maxConns) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: postgres,
      connectProtocol: 'tcp',
      user: POSTGRES_USER,
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: '1h',
    },
  });
  const config = {
    log: { stdout: true, level: 'warn' },
    persistence: {
      numHistoryShards: 4,
      defaultStore: 'default',
      visibilityStore: 'visibility',
      datastores: {
        default: database(DATABASES.temporal, 20),
        visibility: database(DATABASES.visibility, 10),
      },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: announced } },
    services: Object.fromEntries(
      Object.entries(ports).map(([role, rpc]) => [
        role,
        { rpc: { ...rpc, bindOnIP: '127.0.0.1' } },
      ]),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `${announced}:${ports.frontend.grpcPort}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: DYNAMIC_CONFIG_FILE, pollInterval: '60s' },
  };
  const file = join(folder, 'server.yaml');
  writeFileSync(file, JSON.stringify(config, undefined, 2));
  return file;
}
