import { useCallback, type ReactElement } from 'react';
import { useCurrentConversation, useToolNames } from './current-conversation.js';
import { formatMoment } from './format-when.js';
import { LoadFault, useLoaded } from './load-fault.js';
import { Modal } from './modal.js';
import type { CheckpointEntry } from './session-controls.js';

interface Props {
  onClose: () => void;
  /** Called with the session id of the copy. */
  onOpen: (sessionId: string) => void;
}

/** Lists the conversation's checkpoints; a copy can begin from each. */
export function CheckpointsDialog({ onClose, onOpen }: Props): ReactElement {
  const { controls } = useCurrentConversation();
  const { titleOf } = useToolNames();
  const read = useCallback(() => controls.loadCheckpoints(), [controls]);
  const { found, fault, load } = useLoaded(read, 'The list of steps');

  const branch = async (checkpointId: string): Promise<void> => {
    const copy = await controls.branch(checkpointId);
    onClose();
    if (copy !== undefined) onOpen(copy);
  };

  return (
    <Modal className="checkpoints" title="Begin again from" hasClose onClose={onClose}>
      <p>A copy of this conversation up to that point opens; this one stays as it is.</p>
      {fault !== undefined && <LoadFault text={fault} onAgain={() => void load()} />}
      {found === undefined && fault === undefined && <p role="status">Loading…</p>}
      {found?.length === 0 && <p>There is no step yet to begin from.</p>}
      <ol>
        {found?.map((checkpoint) => (
          <li key={checkpoint.id}>
            <button
              type="button"
              data-testid="branch-from"
              onClick={() => void branch(checkpoint.id)}
            >
              <span className="checkpoint-step">{describeStep(checkpoint, titleOf)}</span>
              <small>
                Reply {parseRunNumber(checkpoint.runId)}, step {checkpoint.stepCount},{' '}
                <time dateTime={new Date(checkpoint.timestamp).toISOString()}>
                  {formatMoment(checkpoint.timestamp)}
                </time>
              </small>
            </button>
          </li>
        ))}
      </ol>
    </Modal>
  );
}

/** Returns the step's text, or else the names of its tools. Pure. */
function describeStep(
  { text, toolNames = [] }: CheckpointEntry,
  titleOf: (tool: string) => string,
): string {
  if (text !== undefined) return text;
  return toolNames.length === 0 ? 'No words' : `Used ${toolNames.map(titleOf).join(', ')}`;
}

/** Returns the run's number within its session, from 1, which is part of its id. */
function parseRunNumber(runId: string): string {
  return /:(\d+)-[^:]*$/.exec(runId)?.[1] ?? '';
}
