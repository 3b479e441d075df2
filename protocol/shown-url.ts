const LINKS: ReadonlySet<string> = new Set(['http:', 'https:']);
const FILES: ReadonlySet<string> = new Set([...LINKS, 'data:']);

/**
 * True for an address that a page may link to, or show as a file. `javascript:` and its like would
 * run in the page, and a path would mean a place on the page's own server.
 */
export function isShownUrl(type: 'source_url' | 'file', url: string): boolean {
  if (!URL.canParse(url)) return false;
  return (type === 'file' ? FILES : LINKS).has(new URL(url).protocol);
}
