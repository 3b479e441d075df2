// Finds a Chromium for the tests of the page. Nothing but those tests needs one.
import { findOnPath } from '../system/find-on-path.mjs';
import { withProgress } from '../system/progress.mjs';
import { runCommand } from '../system/run-command.mjs';
import { UserError } from '../system/user-error.mjs';
import { canInstallWithApt, installWithApt } from './apt.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
const MAC_APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** `{ path }`, or `{ reason }`: one sentence that says why it is missing and how to get it. */
export async function findChromium({
  env = process.env,
  canInstall = canInstallWithApt,
  install = () => installWithApt(['chromium', 'fonts-liberation']),
} = {}) {
  if (env.CHROMIUM_PATH) {
    if (await runs(env.CHROMIUM_PATH)) return { path: env.CHROMIUM_PATH };
    throw new UserError(`CHROMIUM_PATH is ${env.CHROMIUM_PATH}, but that is no working Chromium.`);
  }
  const candidates = [findOnPath(NAMES, env), ...MAC_APPLICATIONS].filter(Boolean);
  for (const candidate of candidates) {
    if (await runs(candidate)) return { path: candidate };
  }
  if (!canInstall(env))
    return { reason: 'No Chromium was found: install one or set CHROMIUM_PATH.' };

  try {
    await withProgress('Installing Chromium with apt', install);
  } catch (error) {
    return { reason: `Chromium could not be installed (${error.message}): set CHROMIUM_PATH.` };
  }
  const path = findOnPath(NAMES, env);
  return path && (await runs(path))
    ? { path }
    : { reason: 'The installed Chromium does not run: set CHROMIUM_PATH.' };
}

async function runs(path) {
  const { code } = await runCommand(path, ['--version'], { timeoutMs: 15_000 });
  return code === 0;
}
