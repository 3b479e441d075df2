import type { Guardrails } from '../../../agents/guardrails.js';
import type { HookPlace } from '../../../agents/step-hooks.js';
import type { Row, Screened, UserRow } from '../../../protocol/rows.js';
import { checkText } from './check-text.js';

/** What the checks of the input decide. */
export interface Screening {
  /** The conversation as the model gets it. */
  rows: readonly Row[];
  /** What was decided about new messages, for the row of this step. */
  screened?: Screened | undefined;
  /** What the person is answered in place of the model, if a message was refused. */
  refused?: string | undefined;
}

/** In the place of a message that was refused. */
const REFUSED_TEXT = '[This message was refused by a guardrail.]';

/**
 * Checks the messages that no reply has followed yet. What was decided about earlier ones is in the rows of
 * their replies, so that no model ever gets a refused message, in this turn or a later one.
 *
 * @throws GuardrailError
 */
export async function screenInput(
  { input = [], timeoutMs }: Guardrails,
  rows: readonly Row[],
  place: HookPlace,
  signal: AbortSignal,
): Promise<Screening> {
  const known = toScreenedRows(rows);
  const fresh = known.slice(known.findLastIndex(isReply) + 1).filter(isUsers);
  const screened: Screened = {};
  let refused: string | undefined;
  for (const row of fresh) {
    const text = row.parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    const checked = await checkText(input, place, text, { timeoutMs, signal });
    if ('refused' in checked) {
      refused ??= checked.refused;
      screened[row.id] = { refused: true };
    } else if (checked.text !== text) {
      screened[row.id] = { text: checked.text };
    }
  }
  if (Object.keys(screened).length === 0) return { rows: known };
  return { rows: known.map((row) => toScreenedRow(row, screened)), screened, refused };
}

/** The conversation with what earlier checks have decided. Pure. */
export function toScreenedRows(rows: readonly Row[]): readonly Row[] {
  const screened: Screened = {};
  for (const row of rows) if (row.role === 'assistant') Object.assign(screened, row.screened);
  if (Object.keys(screened).length === 0) return rows;
  return rows.map((row) => toScreenedRow(row, screened));
}

function toScreenedRow(row: Row, screened: Screened): Row {
  if (row.role !== 'user' || !Object.hasOwn(screened, row.id)) return row;
  const decided = screened[row.id];
  if (decided === undefined) return row;
  if ('refused' in decided) return { ...row, parts: [{ type: 'text', text: REFUSED_TEXT }] };
  const files = row.parts.filter(({ type }) => type !== 'text');
  return { ...row, parts: [{ type: 'text', text: decided.text }, ...files] };
}

function isReply(row: Row): boolean {
  return row.role === 'assistant' && row.display !== true;
}

function isUsers(row: Row): row is UserRow {
  return row.role === 'user';
}
