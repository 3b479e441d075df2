// A Temporal server as companies run it: its four roles as processes of their own, on PostgreSQL.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accepts, waitUntil } from '../start/reachable.mjs';
import { claimLowPort } from '../system/ports.mjs';
import { UserError } from '../system/project.mjs';
import { lastLines, outputOf, runCommand } from '../system/run-command.mjs';
import { createEngine } from './engine-process.mjs';
import { findGoProgram } from './go-program.mjs';
import { POSTGRES_USER } from './postgres.mjs';
import { DYNAMIC_CONFIG_FILE, hasNamespace } from './temporal-server.mjs';

// The configuration that all roles of a Temporal server share.
/** Names of the databases, by the part of the schema. */
const DATABASES = { temporal: 'temporal', visibility: 'temporal_visibility' };

/**
 * Writes it as JSON, which is YAML.
 *
 * @param ports gRPC and membership port of each role
 * @param announced the address under which the roles find each other
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
/** The first start of a role waits for the others. */
const ROLE_READY_MS = 60_000;
const NAMESPACE_WITHIN_MS = 60_000;

/**
 * Processes listen on 127.0.0.1. What they announce to each other is `announced`, so that its caller
 * can put a wire that fails between them; `reach` makes it.
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
  // The first one writes what all roles know of the cluster; two at once would be in each other's way.
  const [first, ...others] = Object.values(roles);
  await first.restart();
  await Promise.all(others.map((role) => role.restart()));
  const address = `${announced}:${ports.frontend.grpcPort}`;
  await makeNamespace(cli, address);
  return { roles, address };
}

/** As the documents of Temporal do it: versioned, so that an upgrade would continue from there. */
async function makeTables(sqlTool, port) {
  for (const [part, database] of Object.entries(DATABASES)) {
    const where = [
      '--plugin',
      'postgres12',
      '--endpoint',
      '127.0.0.1',
      '--port',
      String(port),
      '--user',
      POSTGRES_USER,
      '--database',
      database,
    ];
    for (const step of [
      ['create-database', '--defaultdb', 'postgres'],
      ['setup-schema', '--version', '0.0'],
      ['update-schema', '--schema-name', `postgresql/v12/${part}`],
    ]) {
      await outputOf(sqlTool, [...where, ...step]);
    }
  }
}

/** The server takes it once its roles have found each other. */
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

// Finds the programs of a Temporal server of several roles: `temporal-server` and `temporal-sql-tool`.
/** The server that the dev server of DEV_SERVER carries. */
const version = 'v1.32.0';
const SERVER = { name: 'temporal-server', module: 'go.temporal.io/server/cmd/server', version };
const SQL_TOOL = {
  name: 'temporal-sql-tool',
  module: 'go.temporal.io/server/cmd/tools/sql',
  version,
};

/** On the PATH, in the cache, or built from Go modules once, which takes minutes. */
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
