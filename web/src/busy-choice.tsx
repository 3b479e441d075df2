import type { ReactElement } from 'react';
import type { WhenBusy } from './page-store.js';

const WORDS: Record<WhenBusy, string> = {
  queue: 'after this reply',
  steer: 'into the next step',
  interrupt: 'now, stopping the reply',
};

interface Props {
  chosen: WhenBusy;
  onChoose: (chosen: WhenBusy) => void;
}

/** Lets the person choose when a message is answered that is sent while a reply is being written. */
export function BusyChoice({ chosen, onChoose }: Props): ReactElement {
  return (
    <label className="busy-choice">
      Your next message goes{' '}
      <select
        data-testid="when-busy"
        value={chosen}
        onChange={(event) => {
          onChoose(event.target.value as WhenBusy);
        }}
      >
        {Object.entries(WORDS).map(([mode, words]) => (
          <option key={mode} value={mode}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
