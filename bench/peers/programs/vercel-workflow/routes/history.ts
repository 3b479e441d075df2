import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getRun } from 'workflow/api';

/** Returns the size of a run's events in the local world. */
export default async (event: { req: Request }): Promise<object> => {
  const runId = new URL(event.req.url).pathname.split('/').at(-1) ?? '';
  await getRun(runId).returnValue;
  const folder = join(process.env.WORKFLOW_LOCAL_DATA_DIR ?? '', 'events');
  const files = (await readdir(folder)).filter((file) => file.startsWith(runId));
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return { events: files.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
};
