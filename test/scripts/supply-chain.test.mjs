import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { writeSbom } from '../../scripts/sbom.mjs';
import { IMAGE_PACKAGES } from '../../scripts/system/image-packages.mjs';
import { projectRoot } from '../../scripts/system/project.mjs';
import { checkVulnerabilities } from '../../scripts/vulnerabilities.mjs';
import { useTempFolders } from './temp-folder.mjs';

const tempFolder = useTempFolders();
let registry;
afterEach(() => {
  registry?.close();
  registry?.closeAllConnections();
  registry = undefined;
});

/** The real npm, asking a registry that knows these weaknesses. */
async function check({ status = 200, advisories = {} }) {
  registry = createServer((request, response) => {
    const isQuestion = request.url.endsWith('/security/advisories/bulk');
    response.writeHead(isQuestion ? status : 404, { 'content-type': 'application/json' });
    request
      .resume()
      .once('end', () => response.end(isQuestion ? JSON.stringify(advisories) : '{}'));
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  const url = `http://127.0.0.1:${registry.address().port}/`;
  const env = {
    ...process.env,
    npm_config_registry: url,
    npm_config_cache: tempFolder(),
    npm_config_fetch_retries: '0',
  };
  return checkVulnerabilities({ env });
}

function advisory(severity) {
  const url = 'https://example.com/advisory';
  return { id: 1, url, title: 'A weakness', severity, vulnerable_versions: '>=0.0.1' };
}

describe('the gate of vulnerabilities', () => {
  test('the gate of vulnerabilities is open while there are no known ones', async () => {
    await expect(check({})).resolves.toEqual({ grave: 0, text: '0 known, 0 of them grave' });
  });

  test('grave ones close the gate, also of packages that only the image has', async () => {
    const { grave, text } = await check({
      advisories: {
        zod: [advisory('high')],
        ioredis: [advisory('critical')],
        '@ai-sdk/openai': [advisory('high')],
        // Only developers run it.
        prettier: [advisory('high')],
      },
    });
    expect(grave).toBeGreaterThanOrEqual(3);
    for (const line of ['high: zod', 'critical: ioredis', 'high: @ai-sdk/openai'])
      expect(text).toContain(line);
    expect(text).not.toContain('prettier');
  });

  test('the gate of vulnerabilities reports vulnerabilities of lower severity without failing', async () => {
    const { grave, text } = await check({ advisories: { express: [advisory('moderate')] } });
    expect(grave).toBe(0);
    expect(text).toContain('moderate: express');
  });

  test('the gate reports a registry that does not answer', async () => {
    const { grave, text } = await check({ status: 503 });
    expect(grave).toBe(0);
    expect(text).toMatch(/^NOT CHECKED/);
  });
});

test('the list of packages names what the product depends on, with versions', async () => {
  const file = join(tempFolder(), 'deep', 'sbom.json');
  const count = await writeSbom({ file });
  const { components } = JSON.parse(readFileSync(file, 'utf8'));
  expect(components).toHaveLength(count);
  const text = readFileSync(join(projectRoot, 'package.json'), 'utf8');
  const { dependencies } = JSON.parse(text);
  const listed = components.map(({ group, name }) => (group ? `${group}/${name}` : name));
  expect(listed).toEqual(expect.arrayContaining(Object.keys(dependencies)));
  // A peer of those who install the package; the image runs on it.
  expect(listed).toContain('@temporalio/worker');
  expect(
    IMAGE_PACKAGES.filter((each) => !listed.some((name) => `${name}/`.startsWith(`${each}/`))),
  ).toEqual([]);
  expect(listed).not.toContain('prettier');
  for (const { version, hashes } of components) {
    expect(version).toMatch(/^\d/);
    expect(hashes).toEqual([{ alg: 'SHA-512', content: expect.any(String) }]);
  }
});

test('the image has the packages that the lists name beside those of production', () => {
  const text = readFileSync(join(projectRoot, 'Dockerfile'), 'utf8');
  const copied = [...text.matchAll(/^COPY --from=packages \S+ \.\/node_modules\/(\S+)$/gm)];
  expect(copied.map(([, name]) => name).toSorted()).toEqual(IMAGE_PACKAGES);
});
