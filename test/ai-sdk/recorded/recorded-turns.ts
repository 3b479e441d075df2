import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { StreamMessage } from '../../../protocol/chunk.js';
import type { Writer, AppendResult } from '../../../store/contract/log.js';
import type { Transition } from './transitions.js';

/** Where recorded turns are kept, one file each. */
export const turnsFolder = fileURLToPath(new URL('turns/', import.meta.url));

/** Turns of which a part was withdrawn after it had been sent. */
export const WITHDRAWN = ['attempt-taken-over', 'provider-fails-once'];

/** What happened to a session in one recorded turn, or a few. */
export interface RecordedTurn {
  name: string;
  transitions: Transition[];
}

export function readRecordedTurns(): RecordedTurn[] {
  return readdirSync(turnsFolder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({
      name: file.replace('.json', ''),
      transitions: JSON.parse(readFileSync(turnsFolder + file, 'utf8')) as Transition[],
    }));
}

/** As text, one transition a line. */
export function formatTransitions(transitions: readonly Transition[]): string {
  const lines = transitions.map((transition) => JSON.stringify(transition));
  return `[\n${lines.join(',\n')}\n]\n`;
}

/** The same with each chunk in an append of its own, so that nothing lies between two chunks unseen. */
export function splitAppends(transitions: readonly Transition[]): Transition[] {
  const batches = new Map<string, number>();
  return transitions.flatMap((transition) => {
    if (transition.name !== 'append') return [transition];
    const [writer, , messages, known] = transition.args as [
      Writer,
      number,
      StreamMessage[],
      number,
    ];
    const result = transition.result as AppendResult;
    const attempt = `${writer.runId} ${writer.name} ${String(writer.token)}`;
    const first = result.kind === 'appended' ? result.sequence - messages.length + 1 : 0;
    return messages.map((message, index) => {
      const batch = (batches.get(attempt) ?? 0) + 1;
      batches.set(attempt, batch);
      const seen = index === 0 ? known : first + index - 1;
      return {
        ...transition,
        args: [writer, batch, [message], seen],
        result: result.kind === 'appended' ? { ...result, sequence: first + index } : result,
      };
    });
  });
}
