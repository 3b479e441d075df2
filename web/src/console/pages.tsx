import { useState, type ReactElement, type ReactNode } from 'react';

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

/** Where a reader stands in a list whose pages are found by cursors. */
interface Pages {
  /** Cursor of the page that is shown; undefined for the first one. */
  cursor: string | undefined;
  /** Number of the page, from 1. */
  number: number;
  next: (cursor: string) => void;
  previous: () => void;
}

/** Another list, which `key` names, is shown from its first page. */
export function usePages(key: string): Pages {
  const [at, setAt] = useState<{ key: string; cursors: readonly string[] }>({ key, cursors: [] });
  const cursors = at.key === key ? at.cursors : [];
  return {
    cursor: cursors.at(-1),
    number: cursors.length + 1,
    next: (cursor) => {
      setAt({ key, cursors: [...cursors, cursor] });
    },
    previous: () => {
      setAt({ key, cursors: cursors.slice(0, -1) });
    },
  };
}

/** What is chosen of a list, with or without these; the same set where nothing changes. Pure. */
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
