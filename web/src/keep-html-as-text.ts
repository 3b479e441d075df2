import type { Nodes } from 'mdast';
import { visit } from 'unist-util-visit';

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

/** A remark plugin: what a model writes as HTML is shown as it was written, but for line breaks. */
export function keepHtmlAsText(): (tree: Nodes) => void {
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
