import type { ToolHost } from '../../agents/index.js';
import { createMcpConnection, createPlaces, type McpConnection } from './connection.js';
import type { McpServer } from './servers.js';

/** Open connections and programs per process. Agents made by factories open some for each run. */
const MOST_OPEN = 100;

/** The connections of one process: one to each server of each agent, shared by its runs. */
export interface McpConnections {
  /** Returns the connection for these settings. Settings that a factory makes for one user serve only that user. */
  to: (name: string, server: McpServer) => McpConnection;
  close: () => Promise<void>;
}

const byHost = new WeakMap<ToolHost, McpConnections>();

/** Returns the connections of a process, which are closed with it. */
export function connectionsOf(host: ToolHost, mostOpen = MOST_OPEN): McpConnections {
  const known = byHost.get(host);
  if (known !== undefined) return known;
  const connections = createConnections(host.logger, mostOpen);
  byHost.set(host, connections);
  host.onClose(connections.close);
  return connections;
}

function createConnections(logger: ToolHost['logger'], mostOpen: number): McpConnections {
  const places = createPlaces(mostOpen);
  const open = new Map<McpServer, McpConnection>();
  return {
    to: (name, server) => {
      let connection = open.get(server);
      if (connection === undefined) {
        connection = createMcpConnection(name, server, { logger, places }, () => {
          if (open.get(server) === connection) open.delete(server);
        });
        open.set(server, connection);
      }
      return connection;
    },
    close: async () => {
      const all = [...open.values()];
      open.clear();
      await Promise.allSettled(all.map((connection) => connection.close()));
    },
  };
}
