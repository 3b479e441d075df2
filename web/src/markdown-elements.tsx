import {
  createElement,
  useRef,
  type ComponentProps,
  type FunctionComponent,
  type HTMLAttributes,
  type ReactElement,
  type ReactNode,
} from 'react';
import type { Components, ExtraProps } from 'streamdown';
import { CopyButton } from './copy-button.js';

type Props<Tag extends keyof React.JSX.IntrinsicElements> = ComponentProps<Tag> & ExtraProps;

/** Elements that need nothing but their own style; the library's own carry classes of Tailwind. */
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

export const MARKDOWN_ELEMENTS: Components = {
  ...Object.fromEntries(BARE.map((tag) => [tag, bare(tag)])),
  a: Link,
  img: ImageLink,
  table: Table,
  pre: Pre,
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

/** An image is loaded only when a person asks for it: its address can carry words of the conversation. */
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

function Pre({ children }: Props<'pre'>): ReactElement {
  return <CodeBlock>{children}</CodeBlock>;
}

/** Code as it is, with a button that copies it. */
function CodeBlock({ children }: { children: ReactNode }): ReactElement {
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
