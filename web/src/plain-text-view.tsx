import type { ReactElement } from 'react';

/** Shows text literally, with its line breaks. */
export function PlainText({ text }: { text: string }): ReactElement {
  return (
    <div className="text plain-text" data-testid="text">
      {text}
    </div>
  );
}
