import type { Nodes } from 'mdast';
import { memo, type ReactElement } from 'react';
import remarkBreaks from 'remark-breaks';
import { defaultRemarkPlugins, Streamdown } from 'streamdown';
import { visit } from 'unist-util-visit';
import { MARKDOWN_ELEMENTS } from './markdown-elements.js';
import { isPlain } from './plain-text.js';
import { PlainText } from './plain-text-view.js';

/** What holds words itself; elsewhere, words need a paragraph. */
const INLINE = new Set([
  'paragraph',
  'heading',
  'tableCell',
  'emphasis',
  'strong',
  'delete',
  'link',
]);

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

/** A remark plugin: what a model writes as HTML is shown as it was written, but for line breaks. */
function keepHtmlAsText(): (tree: Nodes) => void {
  return (tree) => {
    visit(tree, 'html', (node, index, parent) => {
      if (parent === undefined || index === undefined) return;
      const text = { type: 'text', value: node.value } as const;
      if (/^<br\s*\/?>$/i.test(node.value)) parent.children[index] = { type: 'break' };
      else if (INLINE.has(parent.type)) parent.children[index] = text;
      else parent.children[index] = { type: 'paragraph', children: [text] };
    });
  };
}
