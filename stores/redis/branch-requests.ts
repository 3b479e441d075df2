import type { BranchInput } from '../contract/sessions.js';
import { toPerson } from '../../protocol/responder.js';
import { toStoredRow } from '../record/to-stored-row.js';
import { beginsTurn } from '../record/user-message.js';
import type { RequestOf } from '../transitions/library.js';
import type { Contents } from './contents.js';
import { keepApart } from './large-results.js';
import { toAskersText } from './stored-record.js';

/** Number of rows in one request. */
const PART = 500;

/** The requests that copy a session, one for each part. */
export function branchRequests(
  input: BranchInput,
): ((contents: Contents) => RequestOf<'branch'>)[] {
  const starts = [];
  for (let from = 0; from === 0 || from < input.rows.length; from += PART) starts.push(from);
  const hashes = new Map(input.messages.map(({ id, hash }) => [id, hash]));
  const places = placesOf(input);
  return starts.map((from) => (contents) => ({
    ...toPart(input, hashes, from, contents),
    places: places.slice(from, from + PART).flat(),
  }));
}

function toPart(
  input: BranchInput,
  hashes: ReadonlyMap<string, string>,
  from: number,
  contents: Contents,
): Omit<RequestOf<'branch'>, 'places'> {
  const { agent, owner, tenant = '', nonce, now, by = '', rows } = input;
  const isLast = from + PART >= rows.length;
  const part = rows
    .slice(from, from + PART)
    .map((row) => (row.role === 'tool' ? keepApart(row, []) : { row }));
  const results = part.flatMap((kept) =>
    kept.row?.role === 'tool' ? [{ ...kept, id: kept.row.toolCallId }] : [],
  );
  return {
    agent,
    owner,
    tenant,
    nonce,
    now,
    by,
    from,
    rows: part.flatMap(({ row }) => (row === undefined ? [] : contents.add(toStoredRow(row)))),
    messages: part.flatMap(({ row }) => {
      const hash = row?.role === 'user' ? hashes.get(row.id) : undefined;
      return row?.role === 'user' && hash !== undefined ? [{ id: row.id, hash }] : [];
    }),
    results: results.map((kept) => ({
      id: kept.id,
      output: 'output' in kept && kept.output !== undefined ? contents.add(kept.output) : undefined,
    })),
    end: isLast ? toEnd(input, contents) : undefined,
    act: isLast ? contents.addOptional(input.act) : undefined,
  };
}

/**
 * Names and values of the places that each row begins, as lib/places of the transitions has them. What
 * is copied has no entries in the log.
 */
function placesOf({ rows, ...input }: BranchInput): string[][] {
  let turn = 0;
  return rows.map((row, at) => {
    if (row.role !== 'user') return [];
    const isFirst = beginsTurn(rows, at);
    if (isFirst) turn += 1;
    const own = [`m:${row.id}`, `${String(at)} ${String(turn)}`];
    if (!isFirst) return own;
    let next = at;
    while (rows[next]?.role === 'user') next += 1;
    const reply = rows[next];
    const messageId = reply?.role === 'assistant' ? reply.messageId : '';
    const place = [`t:${String(turn)}`, `${String(at)} 0 ${messageId}`];
    return [...own, ...place, `w:${String(turn)}`, askersText(input, turn)];
  });
}

function askersText(
  { askers = [], owner, tenant = '' }: Pick<BranchInput, 'askers' | 'owner' | 'tenant'>,
  turn: number,
): string {
  return toAskersText(askers[turn - 1] ?? [toPerson(owner, { tenantId: tenant })]);
}

function toEnd(input: BranchInput, contents: Contents): RequestOf<'branch'>['end'] {
  const { turn, visibleMessages, state, isOpen, rows } = input;
  const { turn: number, row, messageId, step, hasReplied } = turn;
  const kept = contents.addOptional(state);
  return {
    ...{ turn: number, row, messageId, step, hasReplied, isOpen },
    askers: askersText(input, number),
    visibleMessages,
    hasHidden: rows.some((row) => row.role === 'user' && row.hidden === true) || undefined,
    state: kept,
  };
}
