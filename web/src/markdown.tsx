import remarkBreaks from 'remark-breaks';
import type { Nodes } from 'mdast';
import {
  createElement,
  memo,
  useRef,
  type ComponentProps,
  type FunctionComponent,
  type HTMLAttributes,
  type ReactElement,
} from 'react';
import { defaultRemarkPlugins, Streamdown, type Components, type ExtraProps } from 'streamdown';
import { visit } from 'unist-util-visit';
import { CopyButton } from './copy-button.js';
import { PlainText } from './plain-text-view.js';

type Props<Tag extends keyof React.JSX.IntrinsicElements> = ComponentProps<Tag> & ExtraProps;

/** Elements without a component of ours; the library's own carry Tailwind classes. */
const BARE = [
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'p',
  'ul',
  'ol',
  'li',
  'blockquote',
  'hr',
  'br',
  'strong',
  'em',
  'del',
  'sup',
  'section',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
  'input',
] as const;

const MARKDOWN_ELEMENTS: Components = {
  ...Object.fromEntries(BARE.map((tag) => [tag, bare(tag)])),
  a: Link,
  img: ImageLink,
  table: Table,
  pre: CodeBlock,
  code: bare('code'),
  inlineCode: bare('code'),
};

function bare(tag: string): FunctionComponent<HTMLAttributes<HTMLElement> & ExtraProps> {
  return function Bare({ node: _node, className: _className, ...rest }) {
    return createElement(tag, rest);
  };
}

function Link({ href, children }: Props<'a'>): ReactElement {
  if (href === undefined || href === '') return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
}

/** Images load only on a click, because their URL could leak words of the conversation. */
function ImageLink({ src, alt }: Props<'img'>): ReactElement {
  return <Link href={typeof src === 'string' ? src : ''}>{alt === '' ? src : alt}</Link>;
}

function Table({ node: _node, className: _className, ...rest }: Props<'table'>): ReactElement {
  return (
    <div className="table" role="region" aria-label="Table" tabIndex={0}>
      <table {...rest} />
    </div>
  );
}

/** A code block with a button that copies it. */
function CodeBlock({ children }: Props<'pre'>): ReactElement {
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

/** Nodes that may hold text directly; in others, text needs a paragraph. */
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
 * Renders an agent's Markdown, even while it streams: unfinished marks are closed, and complete blocks are
 * not rendered again. HTML stays text, and nothing is loaded from other hosts.
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

/** Allows web pages, mail addresses and anchors; a model's other links lead nowhere. */
function toSafeUrl(url: string): string {
  return /^(https?:|mailto:|#)/i.test(url) ? url : '';
}

/** A remark plugin that shows a model's HTML as text, except for line breaks. */
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

/** Longer texts and paragraphs, in characters, are not read as Markdown. */
const MAX_TEXT = 100_000;
const MAX_PARAGRAPH = 5_000;
/** Quotes and lists nested deeper than people can read. */
const DEEP = /^(?:[ \t]*(?:>|[-*+]|\d+[.)])){50}/m;
const FENCE = /^ {0,3}(?:```|~~~)/;
/** Lines that end the paragraph before them: blank lines, headings, items, quotes, table rows. */
const NEW_BLOCK = /^\s*(?:$|#|[-*+>|]|\d+[.)])/;

/**
 * Returns true if a text is shown literally. The page parses a reply again for each chunk, and some marks
 * take quadratic time in the length of their paragraph, or one stack frame each.
 */
export function isPlain(text: string): boolean {
  if (text.length > MAX_TEXT || DEEP.test(text)) return true;
  let paragraph = 0;
  let isCode = false;
  for (const line of text.split('\n')) {
    if (FENCE.test(line)) isCode = !isCode;
    paragraph = isCode || NEW_BLOCK.test(line) ? 0 : paragraph;
    if (!isCode) paragraph += line.length;
    if (paragraph > MAX_PARAGRAPH) return true;
  }
  return false;
}
