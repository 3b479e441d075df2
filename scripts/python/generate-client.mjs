// Writes the generated half of the Python client: a module for each route, a class for each shape.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { projectRoot } from '../system/project.mjs';
import { withOneRefusal } from './one-refusal.mjs';
import { providePythonTools, run } from './python-tools.mjs';

/** Bodies that the generator does not know by their types. */
const CONFIG = {
  content_type_overrides: {
    'application/x-ndjson': 'text/plain',
    '*/*': 'application/octet-stream',
  },
};

/** Replaces `helix_temporal/rest` of the package in that folder, from the routes as they are built. */
export async function generatePythonClient(folder, { env = process.env } = {}) {
  const { bin } = await providePythonTools(env);
  const { createOpenApi } = await import('../../dist/api/openapi.js');
  const { ROUTES } = await import('../../dist/api/routes/index.js');
  const draft = mkdtempSync(join(folder, '.generated-'));
  const [document, config, rest] = ['openapi.json', 'config.json', 'rest'].map((name) =>
    join(draft, name),
  );
  try {
    writeFileSync(document, JSON.stringify(withOneRefusal(createOpenApi(ROUTES))));
    writeFileSync(config, JSON.stringify(CONFIG));
    // A route that it cannot read would be left out with a warning.
    const args = ['--meta', 'none', '--fail-on-warning', '--path', document, '--config', config];
    await run(join(bin, 'openapi-python-client'), ['generate', '--output-path', rest, ...args], {
      // It formats with the ruff that stands beside it.
      env: { ...env, PATH: [bin, env.PATH].join(delimiter) },
    });
    const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
    writeFileSync(join(rest, 'version.py'), `__version__ = "${version}"\n`);
    const target = join(folder, 'helix_temporal', 'rest');
    rmSync(target, { recursive: true, force: true });
    renameSync(rest, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
