import type { EvalCase } from './case.js';
import type { CaseReport } from './evaluate.js';

/**
 * Formats reports as JUnit XML for continuous integration.
 *
 * @param open cases that have not run; reported as errors, so that an aborted evaluation does not look
 *   as if it had passed
 */
export function toJUnit(
  reports: readonly CaseReport[],
  open: readonly Pick<EvalCase, 'name' | 'agent'>[] = [],
): string {
  const failed = reports.filter(({ passed }) => !passed).length;
  const tests = reports.length + open.length;
  const counts = `tests="${String(tests)}" failures="${String(failed)}" errors="${String(open.length)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="helix-temporal eval" ${counts}>`,
    ...reports.map(toTestCase),
    ...open.map(toOpenCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function toTestCase({ name, agent, failures, lanes }: CaseReport): string {
  const ms = lanes.at(-1)?.ms ?? 0;
  const time = (ms / 1_000).toFixed(3);
  const head = `    <testcase ${toNames({ name, agent })} time="${time}">`;
  const wrong = failures.map(
    (each) =>
      `      <failure type="${each.in}" message="${escape(each.text)}">${escape(each.text)}</failure>`,
  );
  const shown = lanes.map((lane) => JSON.stringify(lane)).join('\n');
  const out = `      <system-out>${escape(shown)}</system-out>`;
  return [head, ...wrong, out, '    </testcase>'].join('\n');
}

function toOpenCase(named: Pick<EvalCase, 'name' | 'agent'>): string {
  const why = 'The evaluation ended before this case had run.';
  return [
    `    <testcase ${toNames(named)}>`,
    `      <error type="not_run" message="${why}">${why}</error>`,
    '    </testcase>',
  ].join('\n');
}

function toNames({ name, agent }: Pick<EvalCase, 'name' | 'agent'>): string {
  return `classname="${escape(agent)}" name="${escape(name)}"`;
}

/** Escapes text for XML 1.0, which permits most control characters not even in escaped form. */
function escape(text: string): string {
  return (
    text
      .toWellFormed()
      // oxlint-disable-next-line no-control-regex -- The expression removes control characters.
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll('\n', '&#10;')
  );
}
