import {
  useCallback,
  useMemo,
  type AnchorHTMLAttributes,
  type MouseEvent,
  type ReactElement,
} from 'react';
import { goTo, useAddress } from '../address.js';
import { toSearch } from './console-api.js';

/** Titles of the console's views, by the first part of their address. */
export const VIEWS = {
  waiting: 'Waiting',
  runs: 'Runs',
  usage: 'Usage',
  agents: 'Agents',
  audit: 'Audit',
} as const;
export type View = keyof typeof VIEWS;

/** A view, one item of it, and the view's settings, as an address names them. */
export interface Place {
  view: View;
  /** The id of a run, or of a conversation that waits. */
  item?: string;
  settings: Readonly<Record<string, string>>;
}

export const BASE = '/console';

/** Parses an address; returns undefined if there is no such page. */
export function readPlace(path: string, search: string): Place | undefined {
  if (path !== BASE && !path.startsWith(`${BASE}/`)) return undefined;
  const [name = '', item, ...rest] = path
    .slice(BASE.length + 1)
    .split('/')
    .map(decode);
  const view = (name === '' ? 'waiting' : name) as View;
  const hasItems = view === 'waiting' || view === 'runs';
  if (!Object.hasOwn(VIEWS, view) || rest.length > 0) return undefined;
  if (item !== undefined && !hasItems) return undefined;
  const settings = Object.fromEntries(new URLSearchParams(search));
  return { view, settings, ...(item !== undefined && item !== '' && { item }) };
}

export function formatPlace({
  view,
  item,
  settings = {},
}: Partial<Place> & { view: View }): string {
  const path = item === undefined ? '' : `/${encodeURIComponent(item)}`;
  return `${BASE}/${view}${path}${toSearch(settings)}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

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
