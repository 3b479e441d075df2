// `npm run vulnerabilities`: fails if a package that the product runs with has a known weakness of
// high or critical severity. A registry that does not answer is reported, and is no failure.
import { isInImage } from './system/image-packages.mjs';
import { npmOutput } from './system/npm-output.mjs';
import { isMain, projectRoot } from './system/project.mjs';
import { runMain } from './system/user-error.mjs';

const GRAVE = ['high', 'critical'];

/** `{ grave, text }`: how many are grave, and what to print. */
export async function checkVulnerabilities({ root = projectRoot, env } = {}) {
  const ofProduct = await audit(['--omit=dev'], { root, env });
  const ofAll = await audit([], { root, env });
  const unasked = [ofProduct, ofAll].find(({ reason }) => reason !== undefined);
  if (unasked !== undefined) return notChecked(unasked.reason);
  const ofImage = ofAll.found.filter(({ name }) => isInImage(name));
  const found = [...ofProduct.found, ...ofImage];
  const lines = found.map(({ name, severity, range }) => `${severity}: ${name} ${range}`);
  const grave = found.filter(({ severity }) => GRAVE.includes(severity)).length;
  return { grave, text: [...lines, `${found.length} known, ${grave} of them grave`].join('\n') };
}

/** `{ found }`, or `{ reason }` if the registry gave no answer. */
async function audit(options, { root, env }) {
  const output = await npmOutput(['audit', ...options, '--json'], { cwd: root, env });
  if (output === undefined) return { reason: 'it does not answer' };
  const { vulnerabilities, metadata, error, message } = JSON.parse(output);
  if (metadata?.vulnerabilities === undefined) {
    return { reason: error?.summary || message || 'npm gave no report' };
  }
  return { found: Object.values(vulnerabilities) };
}

function notChecked(reason) {
  return { grave: 0, text: `NOT CHECKED, the registry tells nothing of them: ${reason}` };
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    const { grave, text } = await checkVulnerabilities();
    process.stdout.write(`Vulnerabilities of packages: ${text}\n`);
    if (grave > 0) process.exitCode = 1;
  });
}
