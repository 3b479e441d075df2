import { Fragment, useMemo, type ReactElement } from 'react';
import { formatText, type Inline } from './format-text.js';

export function RichText({ text }: { text: string }): ReactElement {
  const blocks = useMemo(() => formatText(text), [text]);
  return (
    <div className="text" data-testid="text">
      {blocks.map((block, index) =>
        block.kind === 'code' ? (
          <pre key={index}>
            <code>{block.text}</code>
          </pre>
        ) : (
          <p key={index}>
            {block.lines.map((line, number) => (
              <Fragment key={number}>
                {number > 0 && <br />}
                {line.map(pieceView)}
              </Fragment>
            ))}
          </p>
        ),
      )}
    </div>
  );
}

function pieceView({ kind, text }: Inline, index: number): ReactElement {
  if (kind === 'bold') return <strong key={index}>{text}</strong>;
  if (kind === 'code') return <code key={index}>{text}</code>;
  return <Fragment key={index}>{text}</Fragment>;
}
