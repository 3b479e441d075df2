import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { StreamMessage } from '../../../protocol/chunk.js';
import type { Writer, AppendResult } from '../../../store/contract/log.js';
import type { Change } from './changes.js';

/** Where recorded turns are kept, one file each. */
export const turnsFolder = fileURLToPath(new URL('turns/', import.meta.url));

/** Turns of which a part was withdrawn after it had been sent. */
export const WITHDRAWN = ['attempt-taken-over', 'provider-fails-once'];

/** What happened to a session in one recorded turn, or a few. */
export interface RecordedTurn {
  name: string;
  changes: Change[];
}

export function readRecordedTurns(): RecordedTurn[] {
  return readdirSync(turnsFolder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({
      name: file.replace('.json', ''),
      changes: JSON.parse(readFileSync(turnsFolder + file, 'utf8')) as Change[],
    }));
}

/** As text, one change a line. */
export function formatChanges(changes: readonly Change[]): string {
  const lines = changes.map((change) => JSON.stringify(change));
  return `[\n${lines.join(',\n')}\n]\n`;
}

/** The same with each chunk in an append of its own, so that nothing lies between two chunks unseen. */
export function splitAppends(changes: readonly Change[]): Change[] {
  const batches = new Map<string, number>();
  return changes.flatMap((change) => {
    if (change.name !== 'append') return [change];
    const [writer, , messages, known] = change.args as [Writer, number, StreamMessage[], number];
    const result = change.result as AppendResult;
    const attempt = `${writer.runId} ${writer.name} ${String(writer.token)}`;
    const first = result.kind === 'appended' ? result.sequence - messages.length + 1 : 0;
    return messages.map((message, index) => {
      const batch = (batches.get(attempt) ?? 0) + 1;
      batches.set(attempt, batch);
      const seen = index === 0 ? known : first + index - 1;
      return {
        ...change,
        args: [writer, batch, [message], seen],
        result: result.kind === 'appended' ? { ...result, sequence: first + index } : result,
      };
    });
  });
}
