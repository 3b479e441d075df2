import { createMcpConnection, type McpConnection } from './mcp-connection.js';
import type { McpServer } from './mcp-servers.js';
import type { McpLogger } from './mcp-transport.js';
import { createPlaces } from './places.js';

/** Connections and programs that one process has open; agents of factories have some for each run. */
const MOST_OPEN = 100;

/** The connections of one process: one to each server of each agent, shared by its runs. */
export interface McpConnections {
  /** The settings are the key: those that a factory makes for one user serve that user only. */
  to: (name: string, server: McpServer) => McpConnection;
  close: () => Promise<void>;
}

export function createMcpConnections(logger: McpLogger, mostOpen = MOST_OPEN): McpConnections {
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
