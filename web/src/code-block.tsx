import { useRef, useState, type ReactElement, type ReactNode } from 'react';

/** Code as it is, with a button that copies it. */
export function CodeBlock({ children }: { children: ReactNode }): ReactElement {
  const code = useRef<HTMLPreElement>(null);
  const [words, setWords] = useState('Copy');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(code.current?.textContent ?? '');
      setWords('Copied');
    } catch {
      setWords('Not copied');
    }
  };
  return (
    <div className="code-block">
      <pre ref={code} tabIndex={0}>
        {children}
      </pre>
      <button
        type="button"
        className="copy"
        onClick={() => void copy()}
        onBlur={() => {
          setWords('Copy');
        }}
      >
        {words}
      </button>
    </div>
  );
}
