import { metricsIn, readPanels, readRules, readRunbook } from './read-ops.js';

const alerts = readRules().filter(({ isAlert }) => isAlert);

describe('alerts', () => {
  it('each alert has a paragraph in the runbook, and each paragraph an alert', () => {
    const headings = [...readRunbook().matchAll(/^## (\S+)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(alerts.map(({ name }) => name));
    for (const { name, runbook } of alerts) {
      expect(runbook).toBe(`docs/runbook.md#${name.toLowerCase()}`);
    }
  });

  it('each rule and each panel reads metrics', () => {
    const exprs = [...readRules(), ...readPanels()].map(({ expr }) => expr);
    expect(exprs.length).toBeGreaterThan(40);
    for (const expr of exprs)
      expect(metricsIn(`${expr} `).length + (/\bup\{/.test(expr) ? 1 : 0)).toBeGreaterThan(0);
  });
});
