import type { Branch } from '../../session/copy.js';
import type { BranchInput } from '../contract/sessions.js';
import { toStoredJson } from '../record/to-stored-json.js';
import { joinAskers } from '../../session/turns.js';
import { toPerson, type KnownPerson } from '../../protocol/responder.js';
import { toStoredRow } from '../record/to-stored-row.js';
import { beginsTurn } from '../record/user-message.js';
import { keepApart } from './large-results.js';

/** What a copy of a session is made of. @throws HelixError `validation_error` for what cannot be stored */
export function branchOf(input: BranchInput): Branch {
  const { agent, owner, tenant = '', nonce, now, by = '', rows, turn, isOpen = false } = input;
  const askersOf = (n: number): readonly KnownPerson[] =>
    joinAskers(input.askers?.[n - 1] ?? [toPerson(owner, { tenantId: tenant })]);
  const hashes = new Map(input.messages.map(({ id, hash }) => [id, hash]));
  const kept = rows.map((row) => (row.role === 'tool' ? keepApart(row, []) : { row }));
  const messages: Branch['messages'][number][] = [];
  const turns: Branch['turns'][number][] = [];
  rows.forEach((row, at) => {
    if (row.role !== 'user') return;
    if (beginsTurn(rows, at)) {
      const reply = rows.slice(at).find(({ role }) => role !== 'user');
      const messageId = reply?.role === 'assistant' ? reply.messageId : '';
      const n = turns.length + 1;
      turns.push({ n, row: at, messageId, askers: askersOf(n) });
    }
    const hash = hashes.get(row.id);
    if (hash !== undefined) messages.push({ id: row.id, hash, row: at, turn: turns.length });
  });
  return {
    ...{ agent, owner, tenant, nonce, now, by, messages, turns, isOpen },
    rows: kept.flatMap(({ row }) => (row === undefined ? [] : toStoredRow(row))),
    results: kept.flatMap((each) => {
      if (each.row?.role !== 'tool') return [];
      const output = 'output' in each && each.output !== undefined ? { output: each.output } : {};
      return { id: each.row.toolCallId, ...output };
    }),
    turn: {
      n: turn.turn,
      row: turn.row,
      messageId: turn.messageId,
      step: turn.step,
      hasReplied: turn.hasReplied,
      askers: askersOf(turn.turn),
    },
    hasHidden: rows.some((row) => row.role === 'user' && row.hidden === true),
    visible: input.visibleMessages,
    ...(input.state !== undefined && { state: toStoredJson(input.state) }),
    ...(input.act !== undefined && { act: toStoredJson(input.act) }),
  };
}
