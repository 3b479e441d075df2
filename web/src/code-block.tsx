import { useRef, type ReactElement, type ReactNode } from 'react';
import { CopyButton } from './copy-button.js';

/** Code as it is, with a button that copies it. */
export function CodeBlock({ children }: { children: ReactNode }): ReactElement {
  const code = useRef<HTMLPreElement>(null);
  return (
    <div className="code-block">
      <pre ref={code} tabIndex={0}>
        {children}
      </pre>
      <CopyButton label="code" read={() => code.current?.textContent ?? ''} />
    </div>
  );
}
