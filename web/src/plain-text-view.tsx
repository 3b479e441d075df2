import type { ReactElement } from 'react';

/** Text as it was written, with its line breaks. */
export function PlainText({ text }: { text: string }): ReactElement {
  return (
    <div className="text plain-text" data-testid="text">
      {text}
    </div>
  );
}
