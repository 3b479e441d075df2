import { readFile } from 'node:fs/promises';
import { parseEnv } from '../../config/env.js';

const chart = 'ops/helm/helix-temporal';
const read = (path: string): Promise<string> => readFile(path, 'utf8');

/** Reads the pods' settings from the manifests of the chart's default values. */
async function settingsOf(): Promise<Record<string, string>[]> {
  const manifests = await read('ops/kubernetes/helix-temporal.yaml');
  const deployments = manifests
    .split('\n---\n')
    .filter((each) => each.includes('kind: Deployment'));
  return deployments.map((each) => {
    const settings: Record<string, string> = {};
    for (const [, name = '', value = ''] of each.matchAll(/- \{ name: (\w+), value: "(.*)" \}/g)) {
      settings[name] = value;
    }
    return settings;
  });
}

describe('the chart', () => {
  it('the chart has the version of the package', async () => {
    const { version } = JSON.parse(await read('package.json')) as { version: string };
    const text = await read(`${chart}/Chart.yaml`);
    expect(/^version: (.*)$/m.exec(text)?.[1]).toBe(version);
    expect(/^appVersion: (.*)$/m.exec(text)?.[1]).toBe(version);
  });

  it('API and worker accept the settings of the manifests', async () => {
    const settings = await settingsOf();
    expect(settings).toHaveLength(2);
    for (const each of settings) {
      expect(() => parseEnv(each)).not.toThrow();
      const known = await read('config/env.ts');
      const temporal = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'];
      const names = Object.keys(each).filter((name) => !temporal.includes(name));
      expect(names.filter((name) => !known.includes(`${name}:`))).toEqual([]);
    }
  });
});
