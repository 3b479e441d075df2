import type { Session } from './tree.js';

export interface AddFile {
  id: string;
  /** The file as JSON. */
  file: string;
  bytes: number;
  owner: string;
  tenant: string;
  limits: { files: number; bytes: number };
  /** Retention of a file whose session does not exist, ms. */
  unclaimedMs: number;
  /** The bytes are stored elsewhere, where they do not expire. */
  isElsewhere?: boolean;
}

function ownerName(owner: string, tenant: string): string {
  return JSON.stringify([owner, tenant]);
}

/** Returns the owner of the files of a conversation, which may not exist yet; undefined if there are none. */
export function filesOwner({ files }: Session): { owner: string; tenant?: string } | undefined {
  const whose = files.get('whose');
  if (whose === undefined) return undefined;
  const [owner, tenant] = JSON.parse(whose) as [string, string];
  return { owner, ...(tenant !== '' && { tenant }) };
}

/**
 * Notes a file of the conversation; its bytes are written afterwards. The session need not exist. Its files then belong
 * to the first owner who adds one, and expire unless that owner creates the session.
 */
export function addFile(
  session: Session,
  { id, file, bytes, owner, tenant, limits, unclaimedMs, isElsewhere }: AddFile,
):
  | { kind: 'added' }
  | { kind: 'not_found' }
  | { kind: 'exceeded'; what: 'files' | 'bytes'; limit: number } {
  const { record, files, tree } = session;
  const isThere = record?.agent !== undefined;
  if (isThere && (record.owner !== owner || record.tenant !== tenant)) return { kind: 'not_found' };
  const whose = ownerName(owner, tenant);
  const holder = files.get('whose');
  if (holder !== undefined && holder !== whose) {
    if (!isThere) return { kind: 'not_found' };
    // Added by another user before the session was created.
    dropAll(session);
  }
  if (files.get(`file:${id}`) !== undefined) return { kind: 'added' };
  const count = Number(files.get('count') ?? 0) + 1;
  const total = Number(files.get('bytes') ?? 0) + bytes;
  if (count > limits.files) return { kind: 'exceeded', what: 'files', limit: limits.files };
  if (total > limits.bytes) return { kind: 'exceeded', what: 'bytes', limit: limits.bytes };
  files.set('whose', whose);
  files.set('count', String(count));
  files.set('bytes', String(total));
  files.set(`file:${id}`, file);
  files.set(`size:${id}`, String(bytes));
  noteChange(session);
  if (isElsewhere === true) tree.write('set', 'elsewhere', '', id, String(tree.now));
  // Later writes keep the expiry that the key has by then.
  tree.write('set', 'fileBytes', '', '', '');
  if (!isThere) tree.write('expire', 'files', '', unclaimedMs);
  return { kind: 'added' };
}

function noteChange({ files }: Session): void {
  files.set('changes', String(Number(files.get('changes') ?? 0) + 1));
}

/** Removes the note of a file without bytes. The last one of a conversation never begun takes the owner's name. */
export function removeFile(
  session: Session,
  { id }: { id: string },
): { kind: 'removed' | 'not_found' } {
  const { files } = session;
  const size = files.get(`size:${id}`);
  if (size === undefined) return { kind: 'not_found' };
  files.unset(`file:${id}`, `size:${id}`);
  session.tree.write('unset', 'elsewhere', '', id);
  files.set('count', String(Number(files.get('count') ?? 0) - 1));
  files.set('bytes', String(Number(files.get('bytes') ?? 0) - Number(size)));
  noteChange(session);
  if (files.get('count') === '0' && session.record?.agent === undefined) dropAll(session);
  return { kind: 'removed' };
}

/** Keeps the files that the owner added before the session was created, and drops those of others. */
export function claimFiles(session: Session): void {
  const { files, tree, existing } = session;
  const whose = files.get('whose');
  if (whose === undefined) return;
  if (whose === ownerName(existing.owner, existing.tenant)) tree.write('expire', 'files', '');
  else dropAll(session);
}

function dropAll({ files, tree }: Session): void {
  files.drop();
  tree.write('drop', 'fileBytes', '');
}
