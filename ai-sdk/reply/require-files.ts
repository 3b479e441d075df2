import { parseFileUrl } from '../../protocol/file-reference.js';
import type { UserMessage } from '../../stores/contract/runs.js';
import type { Store } from '../../stores/contract/store.js';
import { isOwner, type Caller } from './access.js';
import { invalid } from './refusals.js';

/**
 * Checks that the files which new messages name are there, and are the caller's. Messages that were
 * accepted before may name one that was removed since.
 *
 * @param storedId id of the conversation as it is stored
 * @throws HelixError `validation_error`
 */
export async function requireFiles(
  { sessions, files }: Pick<Store, 'sessions' | 'files'>,
  caller: Caller,
  storedId: string,
  messages: readonly UserMessage[],
): Promise<void> {
  const isThere = async (fileId: string): Promise<boolean> => {
    const file = await files.read(storedId, fileId);
    return file !== undefined && isOwner(file, caller);
  };
  for (const { id, row } of messages) {
    for (const fileId of row.role === 'user' ? row.parts.flatMap(fileIdOf) : []) {
      if (await isThere(fileId)) continue;
      if ((await sessions.acceptedMessages(storedId, [id])).length > 0) continue;
      throw invalid('A file of this message is not there any more; add it again.');
    }
  }
}

function fileIdOf(part: { type: string; url?: string }): string[] {
  const reference = part.url === undefined ? undefined : parseFileUrl(part.url);
  return reference === undefined ? [] : [reference.fileId];
}
