import type { CaseReport } from './evaluate.js';

/** Reports as JUnit's XML, which continuous integration shows. */
export function toJUnit(reports: readonly CaseReport[]): string {
  const failed = reports.filter(({ passed }) => !passed).length;
  const counts = `tests="${String(reports.length)}" failures="${String(failed)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="helix-temporal eval" ${counts}>`,
    ...reports.map(toTestCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function toTestCase({ name, agent, failures, lanes }: CaseReport): string {
  const ms = lanes.at(-1)?.ms ?? 0;
  const time = (ms / 1_000).toFixed(3);
  const head = `    <testcase classname="${escape(agent)}" name="${escape(name)}" time="${time}">`;
  const wrong = failures.map(
    (each) =>
      `      <failure type="${each.in}" message="${escape(each.text)}">${escape(each.text)}</failure>`,
  );
  const shown = lanes.map((lane) => JSON.stringify(lane)).join('\n');
  const out = `      <system-out>${escape(shown)}</system-out>`;
  return [head, ...wrong, out, '    </testcase>'].join('\n');
}

/** XML 1.0 has no place for most control characters, not even escaped. */
function escape(text: string): string {
  return (
    text
      .toWellFormed()
      // eslint-disable-next-line no-control-regex -- These are what is removed.
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll('\n', '&#10;')
  );
}
