import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lintManifests } from '../../scripts/kubernetes/lint-manifests.mjs';
import { projectRoot } from '../../scripts/system/project.mjs';
import { useTempFolders, writeText } from './temp-folder.mjs';

const MANIFESTS = join(projectRoot, 'ops', 'kubernetes', 'helix-temporal.yaml');
/** The first look builds kubeconform and gets the schemas. */
const LONGEST_MS = 120_000;
const tempFolder = useTempFolders();

describe('manifests and the schemas of Kubernetes', () => {
  test(
    'a field that no version knows, and a missing one, are named',
    async () => {
      const outcome = await lintManifests([MANIFESTS]);
      if (outcome.startsWith('NOT CHECKED')) {
        process.stderr.write(`${outcome}\n`);
        return;
      }
      expect(outcome).toMatch(/Valid: [1-9]\d*, Invalid: 0, Errors: 0, Skipped: 0$/);
      const faulty = readFileSync(MANIFESTS, 'utf8').replace('containerPort:', 'containerPorts:');
      const file = writeText(tempFolder(), 'faulty.yaml', faulty);
      const refused = lintManifests([file]).catch(({ message }) => message);
      await expect(refused).resolves.toContain("missing property 'containerPort'");
      await expect(refused).resolves.toContain("'containerPorts' not allowed");
    },
    LONGEST_MS,
  );

  test('a machine that cannot have the linter gets the reason', async () => {
    const env = { PATH: tempFolder(), XDG_CACHE_HOME: tempFolder() };
    await expect(lintManifests([MANIFESTS], env)).resolves.toBe(
      'NOT CHECKED against the schemas of Kubernetes: neither kubeconform nor Go, which could build it, is on the PATH',
    );
  });
});
