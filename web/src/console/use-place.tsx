import {
  useCallback,
  useMemo,
  type AnchorHTMLAttributes,
  type MouseEvent,
  type ReactElement,
} from 'react';
import { goTo, useAddress } from '../address.js';
import { formatPlace, readPlace, type Place } from './place.js';

/** The place in the address bar; undefined if there is no such page. */
export function usePlace(): Place | undefined {
  const address = useAddress();
  return useMemo(() => {
    const { pathname, search } = new URL(address, location.origin);
    return readPlace(pathname, search);
  }, [address]);
}

/** Returns a function that changes the view's settings; empty values leave the address. */
export function useSettings(place: Place): (changes: Record<string, string>) => void {
  return useCallback(
    (changes) => goTo(formatPlace({ ...place, settings: { ...place.settings, ...changes } })),
    [place],
  );
}

interface Props extends AnchorHTMLAttributes<HTMLAnchorElement> {
  /** An address of the console. */
  href: string;
}

/** A link within the console that does not reload the page. */
export function Link({ href, ...rest }: Props): ReactElement {
  const open = (event: MouseEvent): void => {
    const isPlain = !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    if (event.button !== 0 || !isPlain) return;
    event.preventDefault();
    goTo(href);
  };
  return <a href={href} onClick={open} {...rest} />;
}
