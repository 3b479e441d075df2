import { useState, type ReactElement } from 'react';

interface Props {
  /** What is copied, as of the click. */
  read: () => string;
  /** What it copies, for people who do not see where the button stands. */
  label: string;
}

/** Copies a text, and says whether that worked. */
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
      onBlur={() => {
        setWords('Copy');
      }}
    >
      {words}
    </button>
  );
}
