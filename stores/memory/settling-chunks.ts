import type { StreamMessage } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import type { ToolRow } from '../../protocol/rows.js';
import { toCheckedJson } from '../record/checked-messages.js';
import { toJson, type Json } from './json.js';

/**
 * The chunks that settle a call. A large result counts as the answer that it is, not as part of
 * its chunk: other stores keep it apart.
 *
 * @throws HelixError as toCheckedJson
 */
export function toSettlingJson(
  row: ToolRow | undefined,
  chunks: readonly StreamMessage[],
): Json<StreamMessage>[] {
  if (row === undefined || !isLarge(row.output)) return toCheckedJson(chunks);
  return chunks.flatMap((chunk) => {
    if (chunk.type !== 'tool_end' || chunk.toolCallId !== row.toolCallId) {
      return toCheckedJson([chunk]);
    }
    toCheckedJson([{ ...chunk, result: null }]);
    return toJson<StreamMessage>({ ...chunk, result: row.output });
  });
}

function isLarge(output: unknown): boolean {
  return (
    output !== undefined && Buffer.byteLength(JSON.stringify(output)) > LIMITS.inlineResultBytes
  );
}
