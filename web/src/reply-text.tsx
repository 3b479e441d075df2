import { lazy, Suspense, type ComponentType, type ReactElement } from 'react';
import { Boundary } from './boundary.js';
import { PlainText } from './plain-text-view.js';

/** The Markdown code is half of the page's code, so the page opens without it. */
const Markdown = lazy(async (): Promise<{ default: ComponentType<{ text: string }> }> => {
  // The server may be away or have a newer release; the reply stays readable as plain text.
  const { Markdown } = await import('./markdown.js').catch(() => ({ Markdown: PlainText }));
  return { default: Markdown };
});

/** Shows a reply as Markdown, or as plain text while that code loads or if it fails. */
export function ReplyText({ text }: { text: string }): ReactElement {
  const plain = <PlainText text={text} />;
  return (
    <Boundary fallback={plain}>
      <Suspense fallback={plain}>
        <Markdown text={text} />
      </Suspense>
    </Boundary>
  );
}
