// Runs a Temporal server as companies do: four roles in separate processes, on PostgreSQL.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accepts, waitUntil } from '../start/reachable.mjs';
import { claimLowPort } from '../system/ports.mjs';
import { UserError } from '../system/project.mjs';
import { flagsOf, lastLines, outputOf, runCommand } from '../system/run-command.mjs';
import { createEngine } from './engine-process.mjs';
import { findGoProgram } from './go-program.mjs';
import { POSTGRES_USER } from './postgres.mjs';
import { DYNAMIC_CONFIG_FILE, hasNamespace } from './temporal-server.mjs';

// Configuration that all roles share.
/** Database names by schema. */
const DATABASES = { temporal: 'temporal', visibility: 'temporal_visibility' };

/**
 * Writes the configuration as JSON, which is valid YAML.
 *
 * @param ports gRPC and membership port of each role
 * @param announced address under which the roles find each other
 * @param postgres host and port
 * @returns the file
 */
function writeServerConfig({ folder, ports, announced, postgres }) {
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

const ROLES = ['history', 'matching', 'frontend', 'worker'];
const NAMESPACE = 'default';
/** A role's first start waits for the other roles. */
const ROLE_READY_MS = 60_000;
const NAMESPACE_WITHIN_MS = 60_000;

/**
 * Processes listen on 127.0.0.1 and announce the address `announced`, so that the caller can put faulty wires
 * between them; `reach` creates a wire.
 *
 * @param keep called with each engine before it runs
 * @param reach makes `<announced>:<port>` lead to the process on that port
 */
export async function startTemporalCluster({
  programs,
  cli,
  postgresPort,
  folder,
  keep,
  announced = '127.0.0.1',
  reach = () => {},
}) {
  mkdirSync(folder, { recursive: true });
  await makeTables(programs.sqlTool, postgresPort);
  const ports = {};
  for (const role of ROLES) {
    ports[role] = { grpcPort: await claimLowPort(), membershipPort: await claimLowPort() };
    await reach(`temporal-${role}`, Object.values(ports[role]));
  }
  const postgres = `${announced}:${postgresPort}`;
  const configFile = writeServerConfig({ folder, ports, announced, postgres });
  const roles = {};
  for (const role of ROLES) {
    const { grpcPort } = ports[role];
    roles[role] = createEngine({
      name: `temporal-${role}`,
      file: programs.server,
      args: ['--config-file', configFile, '--allow-no-auth', 'start', '--service', role],
      isReady: () => accepts({ host: '127.0.0.1', port: grpcPort }),
      folder,
      readyWithinMs: ROLE_READY_MS,
    });
  }
  Object.values(roles).forEach(keep);
  // The first role to start writes the cluster's metadata; two at once would conflict.
  const [first, ...others] = Object.values(roles);
  await first.restart();
  await Promise.all(others.map((role) => role.restart()));
  const address = `${announced}:${ports.frontend.grpcPort}`;
  await makeNamespace(cli, address);
  return { roles, address };
}

/** Creates versioned schemas, as Temporal's documentation does, so that an upgrade could continue from them. */
async function makeTables(sqlTool, port) {
  for (const [part, database] of Object.entries(DATABASES)) {
    const user = POSTGRES_USER;
    const where = flagsOf({ plugin: 'postgres12', endpoint: '127.0.0.1', port, user, database });
    for (const step of [
      ['create-database', '--defaultdb', 'postgres'],
      ['setup-schema', '--version', '0.0'],
      ['update-schema', '--schema-name', `postgresql/v12/${part}`],
    ]) {
      await outputOf(sqlTool, [...where, ...step]);
    }
  }
}

/** Creates the namespace, which works once the roles have found each other. */
async function makeNamespace(cli, address) {
  const args = ['operator', 'namespace', 'create', '-n', NAMESPACE, '--retention', '24h'];
  let last = '';
  const isThere = await waitUntil(
    async () => {
      if (await hasNamespace(address, NAMESPACE)) return true;
      ({ stderr: last } = await runCommand(cli, [...args, '--address', address]));
      return false;
    },
    { withinMs: NAMESPACE_WITHIN_MS, everyMs: 500 },
  );
  if (!isThere) throw new Error(`the Temporal server takes no namespace: ${lastLines(last, 3)}`);
}

// Finds `temporal-server` and `temporal-sql-tool`.
/** The version of the server inside DEV_SERVER. */
const version = 'v1.32.0';
const SERVER = { name: 'temporal-server', module: 'go.temporal.io/server/cmd/server', version };
const SQL_TOOL = {
  name: 'temporal-sql-tool',
  module: 'go.temporal.io/server/cmd/tools/sql',
  version,
};

/** Looks on the PATH and in the cache; otherwise builds from Go modules, which takes minutes once. */
export async function findTemporalPrograms() {
  return { server: await find(SERVER), sqlTool: await find(SQL_TOOL) };
}

async function find(program) {
  const { path, reason } = await findGoProgram(program);
  if (path) return path;
  throw new UserError(
    `${reason}. Install Go, or put temporal-server and temporal-sql-tool of a release on the PATH.`,
  );
}
