import { useState } from 'react';

interface Props {
  isBusy: boolean;
  onSend: (text: string) => void;
  onStop: () => void;
}

export function Composer({ isBusy, onSend, onStop }: Props) {
  const [text, setText] = useState('');
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        if (isBusy || text.trim() === '') return;
        onSend(text);
        setText('');
      }}
    >
      <input
        aria-label="Message"
        placeholder="Write to the help desk"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {isBusy ? (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button className="primary" disabled={text.trim() === ''}>
          Send
        </button>
      )}
    </form>
  );
}
