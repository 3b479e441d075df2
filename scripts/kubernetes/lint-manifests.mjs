// Holds manifests to the schemas of Kubernetes, by kubeconform: a field that no version knows, a
// missing one, a value of the wrong type.
import { lastLines, runCommand } from '../system/run-command.mjs';
import { UserError } from '../system/user-error.mjs';
import { findGoProgram } from '../engines/go-program.mjs';
import { findSchemas } from './schemas.mjs';

const KUBECONFORM = {
  name: 'kubeconform',
  module: 'github.com/yannh/kubeconform/cmd/kubeconform',
  version: 'v0.7.0',
};
/** The oldest that the chart is for (Chart.yaml), and the newest. */
const KUBERNETES = ['1.27.0', '1.37.0'];
const FILE_OF_KIND = '{{ .ResourceKind }}{{ .KindSuffix }}.json';

/**
 * @returns what to print: that they are valid, or that and why they could not be looked at
 * @throws UserError with what is wrong in them
 */
export async function lintManifests(files, env = process.env) {
  const { path, reason: noProgram } = await findGoProgram(KUBECONFORM, env);
  if (!path) return `NOT CHECKED against the schemas of Kubernetes: ${noProgram}`;
  const { folder, reason: noSchemas } = await findSchemas(KUBERNETES, env);
  if (!folder) return `NOT CHECKED against the schemas of Kubernetes: ${noSchemas}`;
  let summary = '';
  for (const version of KUBERNETES) {
    const schemas = ['-schema-location', `${folder}/${version}/${FILE_OF_KIND}`];
    const options = ['-strict', '-summary', '-kubernetes-version', version, ...schemas];
    const { code, stdout, stderr } = await runCommand(path, [...options, ...files]);
    if (code !== 0) throw new UserError(`Kubernetes ${version}: ${lastLines(stdout + stderr, 10)}`);
    summary = lastLines(stdout, 1);
  }
  return `Kubernetes ${KUBERNETES.join(' and ')}: ${summary}`;
}
