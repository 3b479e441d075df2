import { readFileSync } from 'node:fs';

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

export interface Rule {
  name: string;
  isAlert: boolean;
  expr: string;
  runbook: string | undefined;
}

/** Reads the rules of `ops/prometheus/rules.yml`; promtool has checked their form. */
export function readRules(): Rule[] {
  return read('ops/prometheus/rules.yml')
    .split(/^ {6}- (?=alert:|record:)/m)
    .slice(1)
    .map((text) => ({
      name: /^(?:alert|record): (\S+)/.exec(text)?.[1] ?? '',
      isAlert: text.startsWith('alert'),
      expr: exprOf(text),
      runbook: /runbook_url: .*?(docs\/[^'\s]+)/.exec(text)?.[1],
    }));
}

/** Returns an expression, which is on one line or in an indented block. */
function exprOf(text: string): string {
  const [, first = '', block = ''] = /expr: (.*)\n((?: {10}.*\n)*)/.exec(text) ?? [];
  return first === '|' ? block : first;
}

/** Reads the dashboard's expressions by panel, with values for its variables. */
export function readPanels(): { title: string; expr: string }[] {
  const { panels } = JSON.parse(read('ops/grafana/dashboards/helix-temporal.json')) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  return panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({ title, expr: expr.replaceAll('$__rate_interval', '1m') })),
  );
}

export function readRunbook(): string {
  return read('docs/runbook.md');
}

/** Returns the names of an expression's metrics, without labels. */
export function metricsIn(expr: string): string[] {
  const bare = expr.replace(/\{[^}]*\}/g, '').replace(/\b(by|on|group_left)\s*\([^)]*\)/g, '');
  return bare.match(/\b(helix|gen_ai|temporal)[a-z0-9_:]*/g) ?? [];
}
