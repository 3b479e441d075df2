// Finds the programs of a Temporal server of several roles: `temporal-server` and `temporal-sql-tool`.
import { UserError } from '../system/user-error.mjs';
import { findGoProgram } from './go-program.mjs';

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
