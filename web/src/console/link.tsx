import type { AnchorHTMLAttributes, MouseEvent, ReactElement } from 'react';
import { goTo } from './use-place.js';

interface Props extends AnchorHTMLAttributes<HTMLAnchorElement> {
  /** An address of the console. */
  href: string;
}

/** A link within the console: as any other, but the page is not loaded again. */
export function Link({ href, ...rest }: Props): ReactElement {
  const open = (event: MouseEvent): void => {
    const isPlain = !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    if (event.button !== 0 || !isPlain) return;
    event.preventDefault();
    goTo(href);
  };
  return <a href={href} onClick={open} {...rest} />;
}
