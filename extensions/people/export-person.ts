import type { RouteDeps } from '../../api/extension.js';
import { hasCode } from '../../protocol/errors.js';
import { toShownSessionId } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { StoredFile } from '../../store/contract/files.js';
import type { SessionOwner } from '../../store/contract/waiting.js';

const PAGE = 50;
const ROWS = 100;
/** Bytes of a file in memory at once; a multiple of three, which base64 encodes without padding. */
const PIECE = 3 * 64 * 1024;

type Deps = Pick<RouteDeps, 'stateStore'>;

/** Exports a person's conversations and audit entries as JSON lines, in pieces of text. */
export async function* exportPerson(
  { stateStore: store }: Deps,
  who: SessionOwner,
): AsyncGenerator<string> {
  const { owners, audit } = store;
  let cursor: string | undefined;
  do {
    const page = await owners.page(who, { limit: PAGE, cursor });
    for (const { sessionId: storedId, ...conversation } of page.conversations) {
      yield toLine({
        type: 'conversation',
        sessionId: toShownSessionId(storedId),
        ...conversation,
      });
      yield* ofConversation(store, storedId);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  do {
    const query = { actor: who.owner, limit: LIMITS.auditPage, cursor };
    const page = await audit.page(who.tenant, query);
    for (const { n, entry } of page.entries) yield toLine({ type: 'audit', n, entry });
    cursor = page.cursor;
  } while (cursor !== undefined);
}

async function* ofConversation(
  store: Deps['stateStore'],
  storedId: string,
): AsyncGenerator<string> {
  const { sessions, queue, files } = store;
  const sessionId = toShownSessionId(storedId);
  yield* ofAgent(store, storedId);
  for (const child of await sessions.children(storedId)) yield* ofAgent(store, child);
  for (const { messages, mode, queuedAt } of await queue.read(storedId)) {
    const rows = messages.map(({ row }) => row);
    yield toLine({ type: 'queued', sessionId, mode, queuedAt, rows });
  }
  for (const file of await files.list(storedId)) yield* ofFile(store, storedId, file);
}

/** Exports the data of one agent of a conversation; a sub-agent has a session id of its own. */
async function* ofAgent(store: Deps['stateStore'], storedId: string): AsyncGenerator<string> {
  const sessionId = toShownSessionId(storedId);
  for (let from = 0; ; from += ROWS) {
    const rows = await store.sessions.rows(storedId, from, from + ROWS);
    for (const row of rows) yield toLine({ type: 'row', sessionId, row });
    if (rows.length < ROWS) break;
  }
  const state = await readState(store, storedId);
  if (state !== undefined) yield toLine({ type: 'state', sessionId, state });
}

/** Reads the agent's state; undefined if it has none or the conversation was erased meanwhile. */
async function readState(
  { documents }: Deps['stateStore'],
  storedId: string,
): Promise<object | undefined> {
  try {
    const { customState } = await documents.readState(storedId);
    return Object.keys(customState).length === 0 ? undefined : customState;
  } catch (error) {
    if (hasCode(error, 'not_found')) return undefined;
    throw error;
  }
}

/**
 * Exports a file as one line in pieces, since it may be large and the reader slow. `data` is absent if the
 * bytes are missing.
 *
 * @throws Error if the bytes are removed meanwhile; the connection then ends, so that no partial file
 * passes for a whole one
 */
async function* ofFile(
  { files }: Deps['stateStore'],
  storedId: string,
  file: StoredFile,
): AsyncGenerator<string> {
  const line = JSON.stringify({ type: 'file', sessionId: toShownSessionId(storedId), file });
  const read = async (from: number): Promise<string | undefined> => {
    const range = { from, to: Math.min(from + PIECE, file.bytes) };
    const bytes = await files.content(storedId, file.id, range);
    return bytes && Buffer.from(bytes).toString('base64');
  };
  const first = await read(0);
  if (first === undefined) {
    yield `${line}\n`;
    return;
  }
  yield `${line.slice(0, -1)},"data":"${first}`;
  for (let from = PIECE; from < file.bytes; from += PIECE) {
    const piece = await read(from);
    if (piece === undefined) throw new Error('A file was removed while it was exported.');
    yield piece;
  }
  yield '"}\n';
}

function toLine(item: object): string {
  return `${JSON.stringify(item)}\n`;
}
