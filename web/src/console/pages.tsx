import { useState, type ReactElement, type ReactNode } from 'react';

interface Props {
  pages: Pages;
  /** The page that is shown; the one before it until it has loaded. */
  list: { data?: { cursor?: string | undefined } | undefined; isPlaceholderData: boolean };
}

/** Buttons for the next and the previous page; nothing if the list has one page. */
export function PageButtons({ pages, list }: Props): ReactElement | null {
  const next = list.data?.cursor;
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
          if (next !== undefined && !list.isPlaceholderData) pages.next(next);
        }}
      >
        Next
      </button>
    </nav>
  );
}

/** Position in a list that is paged by cursor. */
interface Pages {
  /** Cursor of the page that is shown; undefined for the first one. */
  cursor: string | undefined;
  /** Number of the page, from 1. */
  number: number;
  next: (cursor: string) => void;
  previous: () => void;
}

/** Returns to the first page when `key` changes. */
export function usePages(key: string): Pages {
  const [at, setAt] = useState<{ key: string; cursors: readonly string[] }>({ key, cursors: [] });
  const cursors = at.key === key ? at.cursors : [];
  return {
    cursor: cursors.at(-1),
    number: cursors.length + 1,
    next: (cursor) => setAt({ key, cursors: [...cursors, cursor] }),
    previous: () => setAt({ key, cursors: cursors.slice(0, -1) }),
  };
}

/** Returns the set with or without the keys; the same object if nothing changes. Pure. */
export function withKeys(
  chosen: ReadonlySet<string>,
  keys: readonly string[],
  isOn: boolean,
): ReadonlySet<string> {
  if (keys.every((key) => chosen.has(key) === isOn)) return chosen;
  return new Set(isOn ? [...chosen, ...keys] : [...chosen].filter((key) => !keys.includes(key)));
}

interface RowsProps {
  caption: string;
  testId?: string;
  columns: readonly (string | ReactElement)[];
  children: ReactNode;
}

/** A table whose rows become cards on narrow screens. */
export function Rows({ caption, testId, columns, children }: RowsProps): ReactElement {
  return (
    <table className="rows" data-testid={testId}>
      <caption className="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column, at) => (
            <th scope="col" key={at}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      {children}
    </table>
  );
}
