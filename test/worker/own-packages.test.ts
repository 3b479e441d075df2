import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { createMemoryStores } from '../../store/memory/index.js';
import { createAgentPlugin } from '../../worker/index.js';

let app: string;
beforeEach(async () => {
  app = await mkdtemp(join(tmpdir(), 'helix-app-'));
});
afterEach(() => rm(app, { recursive: true }));

async function write(file: string, text: string): Promise<string> {
  const path = join(app, file);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  return path;
}

it('the bundler with the plugin finds interceptors in packages that only the application has', async () => {
  const folder = 'node_modules/interceptors-of-the-app';
  await write(
    `${folder}/package.json`,
    '{ "name": "interceptors-of-the-app", "main": "index.js" }',
  );
  await write(
    `${folder}/index.js`,
    'exports.interceptors = () => ({ inbound: [], name: "found in the application" });',
  );
  const workflowsPath = await write(
    'src/workflows.js',
    'exports.greet = async () => "hello from the application";',
  );
  const plugin = createAgentPlugin({ agents: [], stores: createMemoryStores() });
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: ['interceptors-of-the-app'],
    plugins: [plugin],
  });
  expect(code).toContain('found in the application');
  expect(code).toContain('hello from the application');
  expect(code).toContain('agentRun');
});
