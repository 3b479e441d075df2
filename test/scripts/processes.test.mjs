import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { anyFreePort } from '../../scripts/system/ports.mjs';
import { createStandInProject } from './stand-in-project.mjs';
import { useTempFolders, writeText } from './temp-folder.mjs';

/** A process that ends at once while a file of that name is in its folder. */
const main = (role, work) => `
  import { existsSync } from 'node:fs';
  import { createServer } from 'node:http';
  if (existsSync('${role}-fails')) process.exit(1);
  process.on('SIGTERM', () => process.exit(0));
  process.on('disconnect', () => process.exit(0));
  ${work}
`;
const WORKER = main('worker', `process.send('ready'); setInterval(() => {}, 1e6);`);
const API = main(
  'api',
  `process.send('loaded');
  const server = createServer((_request, response) => response.end(String(process.pid)));
  server.on('error', () => setTimeout(listen, 20));
  server.on('listening', () => process.send('ready'));
  const listen = () => server.listen(process.env.PORT, '127.0.0.1');
  listen();`,
);

const members = new Set();
let root;
let url;
let processes;

beforeEach(async () => {
  root = createStandInProject(tempFolder());
  writeText(root, 'dist/worker/main.js', WORKER);
  writeText(root, 'dist/api/main.js', API);
  const { createProcesses } = await import(
    pathToFileURL(join(root, 'scripts/start/processes.mjs'))
  );
  const PORT = String(await anyFreePort());
  url = `http://127.0.0.1:${PORT}`;
  processes = createProcesses({
    env: { PORT },
    url,
    launch: { cwd: root, withholdsKeys: false },
    context: {
      fleet: { add: (member) => members.add(member), remove: (member) => members.delete(member) },
      signal: new AbortController().signal,
      say: () => {},
      announceDeath: () => true,
    },
  });
  await processes.start();
});

afterEach(async () => {
  await Promise.all([...members].map((member) => member.stop()));
  members.clear();
});
const tempFolder = useTempFolders();

const servedBy = async () => (await fetch(`${url}/readyz`)).text();

test.each(['worker', 'api'])('a new %s that does not come up replaces nothing', async (role) => {
  const before = [await servedBy(), ...members];
  const fails = writeText(root, `${role}-fails`, '');
  await expect(processes.replace()).rejects.toThrow(
    `The ${role} does not start: it ended with exit code 1.`,
  );
  expect([await servedBy(), ...members]).toEqual(before);
  rmSync(fails);
  await processes.replace();
  expect(await servedBy()).not.toBe(before[0]);
});
