// `npm run sbom`: what the product is made of, package by package, as CycloneDX in dist/sbom.cdx.json.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInImage } from './system/image-packages.mjs';
import { npmOutput } from './system/npm-output.mjs';
import { isMain, projectRoot } from './system/project.mjs';
import { runMain, UserError } from './system/user-error.mjs';

const OF_DEVELOPMENT = 'cdx:npm:package:development';

/**
 * Returns how many packages it lists. It is made of node_modules, without a registry. What only
 * developers need is left out here: npm's own `--omit=dev` also leaves out what a package that the
 * product needs has named among its peers.
 */
export async function writeSbom({
  root = projectRoot,
  file = join(root, 'dist/sbom.cdx.json'),
} = {}) {
  const text = await npmOutput(['sbom', '--sbom-format', 'cyclonedx'], { cwd: root });
  const all = text ? JSON.parse(text) : {};
  if (all.bomFormat !== 'CycloneDX') throw new UserError('npm made no list of packages.');
  const components = all.components.filter(
    (component) => !component.properties?.some(isOfDevelopment) || isInImage(nameOf(component)),
  );
  const known = new Set([all.metadata.component, ...components].map((each) => each['bom-ref']));
  const dependencies = all.dependencies
    .filter(({ ref }) => known.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => known.has(each)) }));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ ...all, components, dependencies }, null, 2));
  return components.length;
}

function nameOf({ group, name }) {
  return group ? `${group}/${name}` : name;
}

function isOfDevelopment({ name, value }) {
  return name === OF_DEVELOPMENT && value === 'true';
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    const count = await writeSbom();
    process.stdout.write(`dist/sbom.cdx.json lists ${count} packages\n`);
  });
}
