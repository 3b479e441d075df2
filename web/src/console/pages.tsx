import type { ReactElement } from 'react';
import type { Pages } from './use-pages.js';

interface Props {
  pages: Pages;
  /** Cursor of the next page; undefined on the last one. */
  next: string | undefined;
}

/** Back and forth in a list; nothing for a list of one page. */
export function PageButtons({ pages, next }: Props): ReactElement | null {
  if (pages.number === 1 && next === undefined) return null;
  return (
    <nav className="acts" aria-label="Pages">
      <button
        type="button"
        data-testid="previous"
        disabled={pages.number === 1}
        onClick={pages.previous}
      >
        Previous
      </button>
      <span>Page {pages.number}</span>
      <button
        type="button"
        data-testid="next"
        disabled={next === undefined}
        onClick={() => {
          if (next !== undefined) pages.next(next);
        }}
      >
        Next
      </button>
    </nav>
  );
}
