import { useEffect, useRef } from 'react';

/** Returns a reference to the value of the newest render, for callbacks of earlier ones. */
export function useLatest<T>(value: T): { readonly current: T } {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  });
  return latest;
}
