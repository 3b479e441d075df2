import { useState } from 'react';

/** Where a reader stands in a list whose pages are found by cursors. */
export interface Pages {
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
