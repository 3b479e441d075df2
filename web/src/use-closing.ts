import { useEffect, useRef, type RefObject } from 'react';

/** Closes a popup on Escape and on a click outside of it. @param onClose gets true for the key */
export function useClosing(
  isOpen: boolean,
  inside: readonly RefObject<HTMLElement | null>[],
  onClose: (isByKey: boolean) => void,
): void {
  const latest = useRef({ inside, onClose });
  useEffect(() => {
    latest.current = { inside, onClose };
  });
  useEffect(() => {
    if (!isOpen) return;
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') latest.current.onClose(true);
    };
    const onClick = ({ target }: MouseEvent): void => {
      const isInside = latest.current.inside.some(({ current }) =>
        current?.contains(target as Node),
      );
      if (!isInside) latest.current.onClose(false);
    };
    window.addEventListener('keydown', onKey);
    // The capture phase runs before other handlers, and so ignores the click that opened the popup.
    window.addEventListener('click', onClick, true);
    return () => {
      window.removeEventListener('keydown', onKey);
      window.removeEventListener('click', onClick, true);
    };
  }, [isOpen]);
}
