import type { SettleCallInput } from '../contract/calls.js';
import type { StagedChanges } from '../contract/staging.js';
import { toCheckedJson } from '../record/checked-messages.js';
import { toStoredChanges } from '../record/to-stored-changes.js';
import { toStoredRow } from '../record/to-stored-row.js';
import type { RequestOf } from '../transitions/library.js';
import type { Contents } from './contents.js';
import { keepApart, keepOutputApart } from './large-results.js';

type SettleRequest = RequestOf<'settleCall'>;

/** The request of the transition that settles a call, for a result or a decision. */
export function settleRequest(input: SettleCallInput, contents: Contents): SettleRequest {
  const { row, chunks, output } = keepApart(input.row, input.chunks);
  const decision = 'decision' in input ? input.decision : undefined;
  const edit = input.source === 'approval' ? input.edit : undefined;
  return {
    source: input.source,
    runId: input.source === 'tool' ? input.writer.runId : input.runId,
    toolCallId: input.toolCallId,
    writer: input.source === 'tool' ? input.writer : undefined,
    now: input.now,
    row: row === undefined ? undefined : contents.add(toStoredRow(row)),
    isError: row?.error !== undefined,
    decision: contents.addOptional(decision, 1),
    approver: contents.addOptional(input.source === 'approval' ? input.approver : undefined),
    isApproved: decision?.approved === true,
    edit: contents.addOptional(edit, 1),
    shownEdit: 'shownEdit' in input ? input.shownEdit : undefined,
    result: output === undefined ? undefined : contents.add(output),
    permitted: 'permitted' in input ? input.permitted : undefined,
    late: input.source === 'client' ? input.late : undefined,
    hasEvents: input.source === 'tool' && input.hasEvents === true,
    ...workRequest(input, contents),
    chunks: contents.addAll(toCheckedJson(chunks)),
    chunkCount: chunks.length,
    act: 'act' in input ? contents.addOptional(input.act) : undefined,
  };
}

/** What a tool leaves besides its result. */
function workRequest(
  input: SettleCallInput,
  contents: Contents,
): Pick<SettleRequest, 'changes' | 'output' | 'outputRef'> {
  if (input.source !== 'tool') return {};
  const { toolCallId, changes = [], output, now, writer } = input;
  const staged: StagedChanges = { toolCallId, patches: changes, timestamp: now };
  return {
    changes: changes.length === 0 ? undefined : contents.add(toStoredChanges(staged)),
    ...keepOutputApart(writer.runId, output, contents),
  };
}
