import { useState, type ReactElement } from 'react';
import type { Answer } from './answer.js';

interface Props {
  title: string;
  busy: boolean;
  onAnswer: (answer: Answer) => void;
}

/** Answers a call that the client would carry out: as JSON, or as text. */
export function AnswerForm({ title, busy, onAnswer }: Props): ReactElement {
  const [text, setText] = useState('');
  return (
    <form
      className="acts"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer({ result: toValue(text) });
      }}
    >
      <input
        aria-label={`Result of ${title}`}
        placeholder="The result, as text or JSON"
        data-testid="result"
        value={text}
        disabled={busy}
        required
        onChange={(event) => {
          setText(event.target.value);
        }}
      />
      <button type="submit" className="primary" data-testid="give-result" disabled={busy}>
        Answer
      </button>
      <button
        type="button"
        data-testid="refuse-result"
        disabled={busy}
        onClick={() => {
          onAnswer({ error: 'The people in charge would not say.' });
        }}
      >
        Rather not
      </button>
    </form>
  );
}

/** `{"a":1}` and `3` are values; other texts stay text. Pure. */
export function toValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
