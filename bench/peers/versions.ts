import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Packages that a reader of the table knows the peers by. */
const NAMED = [
  'resumable-stream',
  '@durable-streams/server',
  '@temporalio/workflow-streams',
  '@temporalio/ai-sdk',
  'workflow',
];

/** The installed versions of the peers. */
export function readVersions(peersFolder: string): Record<string, string> {
  const pinned = readdirSync(peersFolder).map((name) => {
    const text = readFileSync(join(peersFolder, name, 'package.json'), 'utf8');
    return (JSON.parse(text) as { dependencies: Record<string, string> }).dependencies;
  });
  const all = Object.assign({}, ...pinned) as Record<string, string>;
  return Object.fromEntries(NAMED.map((name) => [name, all[name] ?? 'unknown']));
}
