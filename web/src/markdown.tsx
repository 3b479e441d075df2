import { memo, type ReactElement } from 'react';
import remarkBreaks from 'remark-breaks';
import { defaultRemarkPlugins, Streamdown } from 'streamdown';
import { keepHtmlAsText } from './keep-html-as-text.js';
import { MARKDOWN_ELEMENTS } from './markdown-elements.js';
import { isPlain } from './plain-text.js';
import { PlainText } from './plain-text-view.js';

const REMARK_PLUGINS = [...Object.values(defaultRemarkPlugins), remarkBreaks, keepHtmlAsText];

/**
 * What an agent wrote, also while it writes: unfinished marks are closed, and blocks that are
 * complete are not drawn again. HTML stays text, and nothing is loaded from elsewhere.
 */
export const Markdown = memo(function Markdown({ text }: { text: string }): ReactElement {
  if (isPlain(text)) return <PlainText text={text} />;
  return (
    <div className="text" data-testid="text">
      <Streamdown
        components={MARKDOWN_ELEMENTS}
        remarkPlugins={REMARK_PLUGINS}
        rehypePlugins={[]}
        urlTransform={toSafeUrl}
      >
        {text}
      </Streamdown>
    </div>
  );
});

/** Links may name web pages, mail addresses and places in the page; a model's other links lead nowhere. */
function toSafeUrl(url: string): string {
  return /^(https?:|mailto:|#)/i.test(url) ? url : '';
}
