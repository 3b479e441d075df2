import { writeControl } from './chunks.js';
import { noteAct } from './acts.js';
import type { Session } from './tree.js';

const OWN = ['record', 'writers', 'index', 'content', 'runs', 'children', 'rows'] as const;
/** Places that only the conversation has. */
const SHARED = ['log', 'pages', 'results', 'files', 'fileBytes'] as const;

export interface Erase {
  /** The `stream_end` message for attached readers, as JSON. */
  message: string;
  /** The note of the erasure, kept until the erasure is complete. */
  noted?: Noted | undefined;
}

interface Noted {
  /** Remaining work outside the record, as JSON, for this run and these numbers of sub-agents and file changes. */
  rest: string;
  runId: string;
  children: number;
  fileChanges: number;
  act: string;
}

/** Removes a session with its stream and its sub-agents' sessions. Attached readers get the end. */
export function erase(
  session: Session,
  { message, noted }: Erase,
): { kind: 'erased' | 'not_found' | 'changed' } {
  const { record, tree } = session;
  if (record === undefined) return { kind: 'not_found' };
  const { run, tenant, sizes } = record;
  if (noted !== undefined) {
    const changes = Number(session.files.get('changes') ?? 0);
    if (
      run.id !== noted.runId ||
      run.children !== noted.children ||
      changes !== noted.fileChanges
    ) {
      return { kind: 'changed' };
    }
    const bytes = sizes.stored + tree.log.bytes + Number(session.files.get('bytes') ?? 0);
    const size = JSON.stringify({ rows: session.rows.count, entries: tree.log.count, bytes });
    tree.write('push', 'erasures', '', `${noted.rest.slice(0, -1)},${size.slice(1)}`);
    noteAct(session, noted.act, { outcome: 'erased', tenant, runId: run.id });
  }
  writeControl(session, message);
  if (run.id !== '') tree.write('stop', run.id);
  for (const part of ['', ...session.children.all().keys()]) {
    for (const place of OWN) tree.write('drop', place, part);
  }
  for (const place of SHARED) tree.write('drop', place, '');
  tree.isErased = true;
  return { kind: 'erased' };
}
