import { useState, type ReactElement } from 'react';

interface Props {
  /** Returns the text at the time of the click. */
  read: () => string;
  /** Accessible name: says what is copied. */
  label: string;
}

/** Copies a text and shows whether that worked. */
export function CopyButton({ read, label }: Props): ReactElement {
  const [words, setWords] = useState('Copy');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(read());
      setWords('Copied');
    } catch {
      setWords('Not copied');
    }
  };
  return (
    <button
      type="button"
      className="copy"
      aria-label={`${words}: ${label}`}
      onClick={() => void copy()}
      onBlur={() => setWords('Copy')}
    >
      {words}
    </button>
  );
}
