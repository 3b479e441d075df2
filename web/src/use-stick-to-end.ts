import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';

const NEAR_PX = 48;

export interface StickToEnd {
  box: RefObject<HTMLElement | null>;
  /** Whether the reader has scrolled away from the end. */
  away: boolean;
  onScroll: () => void;
  toEnd: () => void;
}

/** Keeps the end in view while it grows, until the reader scrolls up; at the end it holds again. */
export function useStickToEnd(content: unknown): StickToEnd {
  const box = useRef<HTMLElement>(null);
  /** Where the reader wants to be while away. */
  const wanted = useRef(0);
  /** Where the page put the view, so that its own moves are not taken for the reader's. */
  const placed = useRef(0);
  const [away, setAway] = useState(false);

  const settle = useCallback(() => {
    const element = box.current;
    if (element === null) return;
    // A reply that is being replayed is shorter for a moment, which pushes the view up.
    element.scrollTop = away ? wanted.current : element.scrollHeight;
    placed.current = element.scrollTop;
  }, [away]);

  useLayoutEffect(settle, [content, settle]);

  useEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(settle);
    observer.observe(box.current);
    // What is learned beside the messages, such as who has to answer, makes cards grow.
    for (const child of box.current.children) observer.observe(child);
    return () => {
      observer.disconnect();
    };
  }, [settle]);

  const onScroll = useCallback(() => {
    const element = box.current;
    if (element === null || element.scrollTop === placed.current) return;
    wanted.current = placed.current = element.scrollTop;
    setAway(element.scrollHeight - element.scrollTop - element.clientHeight > NEAR_PX);
  }, []);

  const toEnd = useCallback(() => {
    setAway(false);
  }, []);

  return { box, away, onScroll, toEnd };
}
