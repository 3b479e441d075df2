import { HelixError } from '../../protocol/errors.js';
import type { StreamChunk } from '../../protocol/chunk.js';

/**
 * The text of a run as it is written, without that of its sub-agents.
 *
 * @throws HelixError `rewound` if text that was given is withdrawn: an attempt has failed in the middle
 */
export async function* toTextStream(
  chunks: AsyncIterable<StreamChunk>,
  agentId: string,
): AsyncGenerator<string, void, undefined> {
  let isOpen = false;
  for await (const chunk of chunks) {
    if (chunk.agentId !== agentId) continue;
    if (chunk.type === 'step_committed') isOpen = false;
    if (chunk.type === 'step_discarded' && isOpen) {
      throw new HelixError('rewound', 'The step begins again; its text so far does not count.');
    }
    if (chunk.type !== 'text_delta') continue;
    isOpen = true;
    yield chunk.delta;
  }
}
