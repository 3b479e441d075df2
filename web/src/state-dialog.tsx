import { useEffect, useRef, type ReactElement } from 'react';
import { usePageState } from './current-conversation.js';
import { Value } from './tool-values.js';
import { toWords } from '../../protocol/to-words.js';

/** The agent's own state, as the newest snapshot has it. */
export function StateDialog({ onClose }: { onClose: () => void }): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const state = usePageState((page) => page.state) ?? {};

  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  return (
    <dialog ref={dialog} className="checkpoints" aria-labelledby="state" onClose={onClose}>
      <h2 id="state">What the agent keeps</h2>
      <div data-testid="state">
        {Object.entries(state).map(([name, value]) => (
          <Value key={name} label={toWords(name)} value={value} />
        ))}
      </div>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
