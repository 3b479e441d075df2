// `npm run vulnerabilities`: fails if a package that the product runs with has a known weakness of
// high or critical severity. A registry that does not answer is reported, and is no failure.
import { npmOutput } from './system/npm-output.mjs';
import { isMain, projectRoot } from './system/project.mjs';
import { runMain } from './system/user-error.mjs';

const GRAVE = ['high', 'critical'];

/** `{ grave, text }`: how many are grave, and what to print. */
export async function checkVulnerabilities({ root = projectRoot, env } = {}) {
  const output = await npmOutput(['audit', '--omit=dev', '--json'], { cwd: root, env });
  if (output === undefined) return notChecked('it does not answer');
  const report = JSON.parse(output);
  if (report.metadata?.vulnerabilities === undefined) {
    return notChecked(report.error?.summary || report.message || 'npm gave no report');
  }
  const found = Object.values(report.vulnerabilities);
  const lines = found.map(({ name, severity, range }) => `${severity}: ${name} ${range}`);
  const grave = found.filter(({ severity }) => GRAVE.includes(severity)).length;
  return { grave, text: [...lines, `${found.length} known, ${grave} of them grave`].join('\n') };
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
