// `npm start` runs everything, `npm run start:api` and `npm run start:worker` one process each.
import { buildFirst } from './build.mjs';
import { installPackages } from './install.mjs';
import { startOneProcess, startProduct } from './start/product.mjs';
import { readSettings } from './start/settings.mjs';
import { projectRoot, runMain, UserError } from './system/project.mjs';

const [role, ...rest] = process.argv.slice(2);

await runMain(async () => {
  if (rest.length > 0 || !['api', 'worker', undefined].includes(role)) {
    throw new UserError('Usage: npm start, npm run start:api or npm run start:worker.');
  }
  const settings = readSettings(process.env, projectRoot);
  const launch = { cwd: projectRoot, withholdsKeys: settings.agents === undefined };
  if (role) process.exitCode = await startOneProcess(role, { settings, prepare, launch });
  else await startProduct({ settings, prepare, launch });
});

async function prepare() {
  await installPackages();
  await buildFirst();
}

// Nobody answers pending requests from here on.
process.exit();
