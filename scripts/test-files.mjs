// What jest reports of each file, and the second try of a lane's few failures.
import { readFileSync } from 'node:fs';

/** With more failed files than this, it is no accident of a busy machine. */
const MOST_ACCIDENTS = 3;

/**
 * The files of jest's report, by path: how many tests passed, failed and were skipped, and when it began.
 * A file that could not even be loaded has no tests to count, but it is a failure; so is a missing report.
 */
export function readFiles(path) {
  let report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return new Map([[path, { passed: 0, failed: 1, skipped: 0, beganAt: 0 }]]);
  }
  return new Map(
    report.testResults.map(({ name, status, startTime: beganAt, assertionResults }) => {
      const count = (...kinds) =>
        assertionResults.filter((test) => kinds.includes(test.status)).length;
      const failed = Math.max(count('failed'), status === 'failed' ? 1 : 0);
      const skipped = count('pending', 'todo');
      return [name, { passed: count('passed'), failed, skipped, beganAt }];
    }),
  );
}

/** The files that began after a deadline, ms since the epoch: their tests were skipped. */
export function begunAfter(files, deadline) {
  return [...files].filter(([, { beganAt }]) => beganAt > deadline).map(([name]) => name);
}

/**
 * Runs the failed files of a lane once more, one after the other: hundreds of servers and browsers
 * share two cores in a lane, and a time limit may expire there alone. What passes now is named.
 */
export async function tryAgain(first, runJest, say = (line) => process.stdout.write(`${line}\n`)) {
  const failed = failedOf(first.files);
  if (first.code === 0 || failed.length === 0 || failed.length > MOST_ACCIDENTS) return first;
  const second = await runJest(['--runInBand', '--runTestsByPath', ...failed]);
  const files = new Map([...first.files, ...second.files]);
  const mended = failed.filter((name) => files.get(name)?.failed === 0);
  for (const name of mended) say(`failed beside others, passed alone: ${name}`);
  return { code: second.code, files };
}

export function countTests(files) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const counts of files.values()) {
    for (const kind of Object.keys(sum)) sum[kind] += counts[kind];
  }
  return sum;
}

function failedOf(files) {
  return [...files].filter(([, { failed }]) => failed > 0).map(([name]) => name);
}
